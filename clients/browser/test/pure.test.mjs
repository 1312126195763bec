/** What the golden vectors do not say: oracles, tables, speed, and the files that people load. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";
import { gzipSync } from "node:zlib";
import { points } from "../build/client/points.js";
import { domainFrom } from "../build/privacy/domains/index.js";
import { SYSTEM } from "../build/privacy/entropy.js";
import { OUTERMOST, UPPER } from "../build/privacy/normalTable.js";
import { INTERNAL, LARGEST, LARGEST_WITH_FEATURES, PARTS } from "../scripts/names.mjs";
import { measured } from "../scripts/speed.mjs";
import { readVectors } from "../scripts/vectors.mjs";

const text = (path) => readFileSync(new URL(path, import.meta.url), "utf8");

test("the tables of the codebook are those of the protocol page", () => {
  const page = text("../../../docs/protocol.md");
  for (const [name, table] of Object.entries({ UPPER, OUTERMOST })) {
    const written = new RegExp(`\`${name}\`:\n\n\`\`\`text\n([^\`]*)`).exec(page)[1];
    assert.deepEqual(table, written.trim().split(/\s+/).map(Number));
  }
});

test("rewards of points: one for each that was tried, or the default for all", () => {
  const reward = { low: 0, high: 1, default: 0.25, unit_low: 0, unit_high: 1 };
  const message = (slopes, raw, given) => {
    const contract = { offers: { actions: [], dimension: 1, slopes }, reward };
    const domain = domainFrom({ kind: "interval", low: -1, high: 1 });
    return points.messageFor({ contract, mechanism: { domain } }, { raw }, given)[0];
  };
  const tried = [[0.5], [-0.5]]; // so the slope is the difference of the rewards
  for (const [given, slope] of [
    [[1, 0.5], 0.5],
    [[0, 1], -1],
    [[true, false], 1],
    [[7, 0.5], 0.5], // clipped
  ]) {
    assert.equal(message(true, tried, given), slope);
  }
  for (const bad of [
    1,
    undefined,
    null,
    "10",
    [1],
    [1, 0, 0],
    [1, NaN],
    [1, "0"],
    [1, null],
    [1, ,],
    [, 0],
    { 0: 1, 1: 0 },
  ]) {
    assert.equal(message(true, tried, bad), 0, JSON.stringify(bad));
  }
  for (const [given, told] of [
    [0.5, 0.5],
    [true, 1],
    [-7, 0],
    [[1], 0.25],
    ["1", 0.25],
    [Infinity, 0.25],
    [undefined, 0.25],
  ]) {
    assert.equal(message(false, [0.5], given), told);
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

test("the device has at most 10,000 bytes gzipped, and the manual says how many, of each part too", () => {
  assert.equal(LARGEST, 10_000);
  const bytes = (name) => gzipSync(text(`../dist/${name}.js`), { level: 9 }).length;
  const manual = text("../../../docs/browser.md");
  const said = (pattern) => pattern.exec(manual).slice(1).map(Number);
  assert.ok(Math.max(bytes("sottovoce"), bytes("sottovoce.classic")) <= LARGEST);
  const kilobytes = (name) => Math.round(bytes(name) / 100) / 10;
  assert.deepEqual(said(/`sottovoce\.js` is ([\d.]+) kB gzipped, and so is the classic/), [kilobytes("sottovoce")]);
  assert.equal(kilobytes("sottovoce.classic"), kilobytes("sottovoce"));
  assert.ok(bytes("sottovoce.with-features") <= LARGEST_WITH_FEATURES);
  assert.deepEqual(said(/`sottovoce\.with-features\.js` \(([\d.]+) kB\)/), [kilobytes("sottovoce.with-features")]);
  for (const part of PARTS)
    assert.deepEqual(said(RegExp(`\\| \`${part}\\.js\` \\| ([\\d.]+) kB \\|`)), [kilobytes(part)]);
});

test("the classic script defines one global name", () => {
  const page = vm.createContext({ crypto, TextDecoder, TextEncoder, btoa, atob, EventTarget, Event });
  const before = new Set(Object.keys(page));
  vm.runInContext(text("../dist/sottovoce.classic.js"), page);
  assert.deepEqual(
    Object.keys(page).filter((name) => !before.has(name)),
    ["sottovoce"],
  );
});

/** Contracts that need a part, each made from one that needs none. */
const NEEDS = {
  delta: (contract) => ({ ...contract, mechanism: "gaussian" }),
  features: (contract) => ({ ...contract, mechanism: "sphere" }),
  holdout: (contract) => ({ ...contract, extensions: { holdout: { share: "0.1", gates: [] } } }),
  learners: (contract) => ({ ...contract, domain: { kind: "ball", dimension: 5, bound: "1" } }),
};
const { given: plain } = readVectors("contracts", "python").find(({ what }) => what === "headline as it is");

/** How an app joins the task of this contract; nothing is stored. */
async function joined({ Device }, contract) {
  const served = async (url) =>
    new Response(url.endsWith("/contract") ? JSON.stringify(contract) : "", { status: 200 });
  const now = () => 0;
  const device = await Device.open("https://learn.example", plain.task, { fetch: served, now });
  return device.contract.id;
}

/** The device of a page that has the classic script and nothing beside it. */
function alone() {
  const own = {
    crypto,
    TextDecoder,
    TextEncoder,
    btoa,
    atob,
    EventTarget,
    Event,
    AbortController,
    AbortSignal,
    console,
  };
  const page = vm.createContext(own);
  vm.runInContext(text("../dist/sottovoce.classic.js"), page);
  return page.sottovoce;
}

test("a page joins a task of the usual kind without any part", async () => {
  assert.equal(await joined(alone(), JSON.parse(plain.contract)), plain.task);
});

for (const [part, changed] of Object.entries(NEEDS)) {
  test(`what only ${part}.js brings is refused where it cannot be loaded, and the error names the file`, async () => {
    const contract = changed(JSON.parse(plain.contract));
    const refused = (error) => error.name === "ContractRefused" && error.message.includes(`${part}.js`);
    await assert.rejects(joined(alone(), contract), refused);
    await assert.rejects(joined(await import("../dist/sottovoce.js"), contract), (error) => !refused(error));
  });
}

test("no name that is made short is on the wire, in the database or in an app's code", () => {
  const declared = [
    "client/vault",
    "client/options",
    "client/answers",
    "client/ledger",
    "protocol/wire",
    "protocol/offers",
  ]
    .map((file) => text(`../src/${file}.ts`).split(/\/\*\* The (tables in|ledger as)/)[0])
    .flatMap((file) => file.match(/(?<=^ +(readonly )?)\w+(?=\??:)/gm));
  const contracts = readVectors("contracts", "python").map(({ given }) => given.contract);
  const written = [...contracts, text("../../../docs/protocol.md")].flatMap((page) => page.match(/(?<=")\w+(?=":)/g));
  const methods = text("../../../docs/browser.md").match(/(?<=device\.)\w+/g);
  const outside = new Set([...declared, ...written, ...methods]);
  for (const name of ["askAgain", "lifetimeDelta", "recorded", "numbers", "by_anchor", "optOut"]) {
    assert.ok(outside.has(name), name);
  }
  assert.deepEqual(
    INTERNAL.filter((name) => outside.has(name)),
    [],
  );
});
