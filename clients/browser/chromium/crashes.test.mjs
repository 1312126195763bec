/** A page is killed at every point between paying and sending: nobody draws twice for one datum. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { arms, blank, HOUR, journal, person, sentAfter, server, visit } from "./harness.mjs";

/** What is found afterwards: entries of the ledger, draws, different reports that were sent. */
const LATER = {
  "while paying": [0, 0, 0],
  "after paying": [1, 1, 1],
  "before the draw": [1, 0, 0],
  "after the draw": [1, 1, 0],
  "while the report is kept": [1, 1, 0],
  "after the report is kept": [1, 1, 1],
  "while the answer is kept": [1, 1, 1],
};

/** In the page: a device whose draws are counted, and which dies at this point. */
async function doomed({ server, task, point }) {
  const { Device } = await import("/sottovoce.js");
  const die = () => {
    globalThis.crash();
    for (;;);
  };
  const at = (name) => point === name && die();
  for (const [method, table, name] of [
    ["put", "decisions", "while paying"],
    ["put", "outbox", "while the report is kept"],
    ["delete", "outbox", "while the answer is kept"],
  ]) {
    const honest = IDBObjectStore.prototype[method];
    IDBObjectStore.prototype[method] = function (...given) {
      const request = honest.apply(this, given);
      if (this.name === table) at(name);
      return request;
    };
  }
  let drawing = false;
  const random = (bound) => Math.floor((crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32) * bound);
  const entropy = {
    octets: (count) => crypto.getRandomValues(new Uint8Array(count)),
    below(bound) {
      if (drawing) at("after the draw"); // the delay is drawn next
      if (bound === 2 ** 40) {
        at("before the draw");
        globalThis.mark("draw");
      } else drawing = bound === 600_001 ? false : bound < 2 ** 40 && bound > 10;
      return random(bound);
    },
  };
  globalThis.later ??= 0;
  globalThis.device = await Device.open(server, task, { now: () => Date.now() / 1000 + later, entropy });
  globalThis.at = at;
}

for (const [point, [entries, draws, arrived]] of Object.entries(LATER)) {
  test(`killed ${point}, a page has never drawn twice`, async () => {
    const { context, bodies } = await person();
    const task = await arms();
    const marks = [];
    await context.exposeBinding("mark", (_, mark) => marks.push(mark));
    const page = await blank(context);
    const session = await context.newCDPSession(page);
    await page.exposeBinding("crash", () => void session.send("Page.crash").catch(() => {}));
    const crashed = page.waitForEvent("crash", { timeout: 5000 });
    const ids = [];
    await context.exposeBinding("made", (_, id) => ids.push(id));
    await page.evaluate(doomed, { server, task, point });
    page
      .evaluate(async () => {
        const decision = await device.choose();
        globalThis.made(decision.id);
        at("after paying");
        await device.observe(decision.id, 1);
        at("after the report is kept");
        later += 7200;
        await device.send();
      })
      .catch(() => {});
    await crashed;
    const next = await blank(context);
    await next.evaluate(doomed, { server, task, point: "" });
    for (const id of ids) await next.evaluate((id) => device.observe(id, 0), id);
    await sentAfter(next, 2 * HOUR);
    assert.equal((await next.evaluate(() => device.balance())).spent, entries);
    assert.equal(marks.length, draws);
    assert.equal(new Set(bodies()).size, arrived);
    assert.equal(await journal(task), arrived);
    assert.equal((await next.evaluate(() => device.stats())).lost, entries - arrived);
    assert.deepEqual(await next.evaluate(() => device.outbox()), []);
    assert((await visit(next, null, 1))[0].reported);
    await context.close();
  });
}
