/** What the golden vectors do not say: oracles, tables, speed, and the files that people load. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";
import { SYSTEM } from "../build/privacy/entropy.js";
import { OUTERMOST, UPPER } from "../build/privacy/normalTable.js";
import { measured } from "../scripts/speed.mjs";

const text = (path) => readFileSync(new URL(path, import.meta.url), "utf8");

test("the tables of the codebook are those of the protocol page", () => {
  const page = text("../../../docs/protocol.md");
  for (const [name, table] of Object.entries({ UPPER, OUTERMOST })) {
    const written = new RegExp(`\`${name}\`:\n\n\`\`\`text\n([^\`]*)`).exec(page)[1];
    assert.deepEqual(table, written.trim().split(/\s+/).map(Number));
  }
});

test("the system's integers are below their bound and use all of it", () => {
  for (const bound of [1, 2, 3, 1000, 2 ** 53]) {
    const drawn = Array.from({ length: 2000 }, () => SYSTEM.below(bound));
    assert.ok(drawn.every((number) => Number.isInteger(number) && 0 <= number && number < bound));
    // Of 2000 draws the largest is below 0.98 of the bound with probability 0.98^2000 < 1e-17.
    assert.ok(bound === 1 || Math.max(...drawn) >= Math.floor(0.98 * bound));
  }
});

test("a report of the gradient learner, ten features and epsilon 4, takes less than 3 ms", () => {
  assert.ok(measured() < 3);
});

test("delta.js adds its mechanisms to the device's module", async () => {
  const device = await import("../dist/sottovoce.js");
  assert.deepEqual(Object.keys(device.MECHANISMS), ["levels", "sphere"]);
  await import("../dist/delta.js");
  assert.deepEqual(Object.keys(device.MECHANISMS), ["levels", "sphere", "gaussian", "laplace"]);
});

test("the classic scripts define one global name, and the second adds its mechanisms to the first", () => {
  const page = vm.createContext({ crypto, TextDecoder, TextEncoder, btoa, atob, EventTarget, Event });
  const before = new Set(Object.keys(page));
  vm.runInContext(text("../dist/sottovoce.classic.js"), page);
  vm.runInContext(text("../dist/delta.classic.js"), page);
  assert.deepEqual(Object.keys(page.sottovoce.MECHANISMS), ["levels", "sphere", "gaussian", "laplace"]);
  assert.deepEqual(
    Object.keys(page).filter((name) => !before.has(name)),
    ["sottovoce"],
  );
});
