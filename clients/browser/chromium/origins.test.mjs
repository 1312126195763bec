/** A page of one origin, a server of another: what the browser asks first, and what the page may read. */
import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import { admin, answered, arms, HOUR, journal, opened, person, sentAfter, visit } from "./harness.mjs";

test("a browser asks once whether it may post tickets and reports", async () => {
  const { context } = await person();
  const task = await arms();
  const asked = async () => [await answered("offers", 204), await answered("reports", 204)];
  const [offers, reports] = await asked();
  const page = await opened(context, task);
  for (let i = 0; i < 3; i++) {
    await visit(page, null, 1);
    assert.equal((await sentAfter(page, 2 * HOUR)).acknowledged, 1);
    await page.evaluate(() => void (later = 0));
  }
  assert.deepEqual(await asked(), [offers + 1, reports + 1]);
  await context.close();
});

test("nothing comes from the browser's cache, which would bring a server's marks back to it", async () => {
  const { context } = await person();
  const task = await arms();
  const before = await answered("contract", 200);
  for (const storage of ["one", "another"]) await opened(context, task, { storage });
  assert.equal(await answered("contract", 200), before + 2);
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
  await assert.rejects(opened(context, task), /ConfigurationError: task .* needs the option admission/);
  const page = await opened(context, task, { admitted: true });
  assert((await visit(page, null, 1))[0].reported);
  assert.equal((await sentAfter(page, 2 * HOUR)).acknowledged, 1);
  assert.equal(await journal(task), 1);
  await context.close();
});
