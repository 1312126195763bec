/** A page is killed at every point between paying and sending: of one datum one draw is ever kept, and sent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { arms, blank, HOUR, journal, person, sentAfter, server, visit } from "./harness.mjs";

/** What is found afterwards: reports that were paid for and sent, and draws, of which all but the last were in vain. */
const LATER = {
  "while paying": [0, 0],
  "after paying": [1, 1],
  "before the draw": [1, 1],
  "after the draw": [1, 2],
  "while the report is kept": [1, 2],
  "after the report is kept": [1, 1],
  "while the answer is kept": [1, 1],
};

/** In the page: a device whose draws are counted, and which dies at this point. */
async function doomed({ server, task, point }) {
  const { Device } = await import("/sottovoce.js");
  const die = () => {
    globalThis.crash();
    for (;;);
  };
  const at = (name) => point === name && die();
  const steps = { promised: "while paying", drawn: "while the report is kept", sent: "while the answer is kept" };
  let step;
  const honest = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function (row) {
    const request = honest.call(this, row);
    if (this.name === "ledger") step = steps[row.fate];
    else at(step); // the entry is put first, then the record of the task
    return request;
  };
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

for (const [point, [reports, draws]] of Object.entries(LATER)) {
  test(`killed ${point}, a page has kept and sent one draw`, async () => {
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
    assert.equal((await next.evaluate(() => device.balance())).spent, reports);
    assert.equal(marks.length, draws);
    assert.equal(new Set(bodies()).size, reports);
    assert.equal(await journal(task), reports);
    const fates = await next.evaluate(async () => (await device.ledger()).map(({ fate }) => fate));
    assert.deepEqual(fates, Array(reports).fill("sent"));
    assert.deepEqual(await next.evaluate(() => device.outbox()), []);
    assert((await visit(next, null, 1))[0].reported);
    await context.close();
  });
}
