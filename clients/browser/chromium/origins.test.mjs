/** A page of one origin, a server of another: what the browser asks first, and what the page may read. */
import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import { admin, arms, HOUR, journal, opened, person, sentAfter, server, visit } from "./harness.mjs";

/** How often browsers have asked whether they may, for all tasks. */
async function preflights() {
  const page = await (await fetch(`${server}/metrics`)).text();
  return Object.fromEntries(
    [...page.matchAll(/requests_total\{route="[^"]*\/(\w+)",status="204"\} (\d+)/g)].map((found) => [
      found[1],
      +found[2],
    ]),
  );
}

test("a browser asks once whether it may post tickets and reports", async () => {
  const { context } = await person();
  const task = await arms();
  const before = await preflights();
  const page = await opened(context, task);
  for (let i = 0; i < 3; i++) {
    await visit(page, null, 1);
    assert.equal((await sentAfter(page, 2 * HOUR)).acknowledged, 1);
    await page.evaluate(() => void (later = 0));
  }
  const after = await preflights();
  assert.deepEqual([after.offers - (before.offers ?? 0), after.reports - (before.reports ?? 0)], [1, 1]);
  await context.close();
});

test("a token of the app travels to a task that wants one, and a device without the app's function refuses it", async () => {
  const { context } = await person();
  const task = await arms({ admission: "signed" });
  const { key } = await (await admin("GET", `/v1/tasks/${task}/admission-key`)).json();
  await context.exposeFunction("signed", (tickets) => {
    const now = BigInt(Math.floor(Date.now() / 1000));
    const token = Buffer.alloc(34);
    randomBytes(16).copy(token);
    token.writeBigUInt64BE(now, 16);
    token.writeBigUInt64BE(now + 600n, 24);
    token.writeUInt16BE(tickets, 32);
    const words = Buffer.concat([Buffer.from(`sottovoce-admission\0${task}\0`), token]);
    return Buffer.concat([token, createHmac("sha256", Buffer.from(key, "base64url")).update(words).digest()]).toString(
      "base64url",
    );
  });
  await assert.rejects(opened(context, task), /ConfigurationError: task .* admits people whom its app knows/);
  const page = await opened(context, task, { admitted: true });
  assert((await visit(page, null, 1))[0].reported);
  assert.equal((await sentAfter(page, 2 * HOUR)).acknowledged, 1);
  assert.equal(await journal(task), 1);
  await context.close();
});
