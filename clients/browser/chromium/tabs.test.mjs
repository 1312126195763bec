/** Several tabs of one person, and pages that are closed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  arms,
  blank,
  HOUR,
  journal,
  model,
  open,
  opened,
  pause,
  PERSON,
  person,
  sentAfter,
  server,
  until,
  visit,
} from "./harness.mjs";

test("two tabs that observe the same decision draw once", async () => {
  const { context } = await person();
  const task = await arms();
  const [one, other] = [await opened(context, task), await opened(context, task)];
  for (let i = 0; i < 5; i++) {
    const [{ id }] = await visit(one, null, null);
    const kept = await Promise.all(
      [one, other, one, other].map((page) => page.evaluate((id) => device.observe(id, 1), id)),
    );
    assert.deepEqual(kept.sort(), [false, false, false, true]);
  }
  assert.equal((await one.evaluate(() => device.outbox())).length, 5);
  await context.close();
});

test("two tabs send each report once, and ask for each permit once", async () => {
  const { context, requests, bodies } = await person();
  const task = await model();
  const tabs = [await opened(context, task), await opened(context, task)];
  assert.equal(requests.filter(({ path }) => path === "permits").length, 1);
  await tabs[0].evaluate(() => device.prefetch(6));
  for (let i = 0; i < 6; i++) assert((await visit(tabs[i % 2], PERSON, i % 2))[0].reported);
  const sent = await Promise.all(tabs.map((page) => sentAfter(page, 2 * HOUR)));
  assert.equal(sent[0].acknowledged + sent[1].acknowledged, 6);
  assert.equal(bodies().length, 6);
  assert.equal(new Set(bodies()).size, 6);
  assert.equal(await journal(task), 6);
  await context.close();
});

test("two tabs together never pass the budget", async () => {
  const { context } = await person();
  const task = await arms({ privacy: { epsilon: 1.0, lifetime: 7.0 } });
  const tabs = [await opened(context, task), await opened(context, task)];
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => visit(tabs[i % 2], null, 1)));
  assert.equal(made.filter(([{ reported }]) => reported).length, 7);
  assert.equal((await tabs[1].evaluate(() => device.balance())).spent, 7);
  await context.close();
});

test("two tabs do not use the same ticket, and a closed tab leaves its tickets to the others", async () => {
  const { context, requests } = await person();
  const task = await arms();
  const [one, other] = [await opened(context, task), await opened(context, task)];
  await one.evaluate(() => device.prefetch(3));
  await other.evaluate(() => device.prefetch(3));
  const asked = () => requests.filter(({ path, method }) => path === "offers" && method === "POST").length;
  assert.equal(asked(), 2);
  for (const page of [one, other, one, other]) assert((await visit(page, null, 1))[0].reported);
  assert.equal(asked(), 2);
  await one.close();
  await until(async () => (await other.evaluate(() => navigator.locks.query())).held.length === 1);
  await other.evaluate(() => device.prefetch(2));
  for (let i = 0; i < 2; i++) assert((await visit(other, null, 1))[0].reported);
  assert.equal(asked(), 2);
  await context.close();
});

test("what one tab opts out of leaves from no tab", async () => {
  const { context, bodies } = await person();
  const task = await arms();
  const [one, other] = [await opened(context, task), await opened(context, task)];
  await visit(one, null, 1);
  await visit(one, null, null);
  const heard = one.evaluate(() =>
    new Promise((done) => device.addEventListener("state", done, { once: true })).then(() => 0),
  );
  await other.evaluate(() => device.optOut());
  await heard;
  await one.evaluate(() => void (later += 7200));
  await one.close({ runBeforeUnload: false });
  assert.deepEqual(await sentAfter(other, 2 * HOUR), { acknowledged: 0, refused: 0, waiting: 0 });
  const [{ reported, problem }] = await visit(other, null, 1);
  assert.deepEqual([reported, problem], [false, "nothing is reported: opted-out"]);
  assert.deepEqual(bodies(), []);
  await other.evaluate(() => device.optIn());
  assert((await visit(other, null, 1))[0].reported);
  assert.equal((await other.evaluate(() => device.balance())).spent, 3);
  await context.close();
});

test("a page that is closed at once after a click loses nothing", async () => {
  const { context } = await person();
  const task = await arms();
  const page = await opened(context, task);
  await page.evaluate(() => {
    document.body.onclick = async () => {
      const { id, recorded } = device.chooseNow();
      await recorded;
      void device.observe(id, 1);
      location.href = "/next";
    };
    return device.prefetch(1);
  });
  await page.click("p");
  await page.waitForURL("**/next");
  await page.close();
  const next = await opened(context, task);
  await sentAfter(next, 2 * HOUR);
  await sentAfter(next, HOUR);
  assert.equal(await journal(task), 1);
  await context.close();
});

/** In the page: what a browser does when a page is hidden, put aside or closed. */
const ENDS = {
  closed: () => void (location.href = "about:blank"),
  hidden() {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  },
  "put aside": () => dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true })),
};

for (const [how, end] of Object.entries(ENDS)) {
  test(`what is due leaves when a page is ${how}, and nothing earlier`, async () => {
    const { context, bodies } = await person();
    const task = await arms();
    for (const [late, arrived] of [
      [0, 0],
      [7200, 1],
    ]) {
      const page = await opened(context, task);
      if (!late) await visit(page, null, 1);
      await page.evaluate((late) => void (later += late), late);
      await page.evaluate(end);
      if (arrived) await until(async () => (await journal(task)) === 1);
      else await pause(200);
      assert.equal(await journal(task), arrived);
      await page.close();
    }
    const again = await opened(context, task);
    await sentAfter(again, 2 * HOUR); // the answer may have been lost with the page; the same bytes are counted once
    assert.equal(await journal(task), 1);
    assert.equal(new Set(bodies()).size, 1);
    assert.deepEqual(await again.evaluate(() => device.outbox()), []);
    await context.close();
  });
}

test("a page that was put aside goes on when it is shown again", async () => {
  const { context, requests } = await person();
  const page = await opened(context, await arms());
  await page.evaluate(() => device.prefetch(2));
  for (const type of ["pagehide", "pageshow"]) {
    await page.evaluate((type) => void dispatchEvent(new PageTransitionEvent(type, { persisted: true })), type);
  }
  for (let i = 0; i < 2; i++) assert.deepEqual((await visit(page, null, 1))[1], true);
  assert.equal(requests.filter(({ path }) => path === "offers").length, 1);
  await context.close();
});

test("what is withdrawn while it is drawn, or sent in vain, does not leave when the page is closed", async () => {
  for (const sending of [false, true]) {
    const { context, bodies } = await person();
    const page = await opened(context, await arms({ reward: { wait: "0s" }, delay: "0s" }));
    const [{ id }] = await visit(page, null, null);
    let refuse;
    await context.route("**/reports", (route) => (refuse = () => route.abort()));
    if (sending) {
      await page.evaluate((id) => device.observe(id, 1), id);
      await page.evaluate(ENDS.hidden);
      await until(() => refuse);
      await page.evaluate(() => device.optOut());
      await refuse();
    } else {
      await page.evaluate(async (id) => {
        const drawn = device.observe(id, 1);
        for (let i = 0; i < 5; i++) await undefined; // the draw has begun
        await Promise.all([drawn, device.optOut()]);
      }, id);
    }
    await pause(300);
    await page.evaluate(() => void (later += 7200)); // the server is not left alone any more
    await page.evaluate(ENDS.hidden);
    await pause(300);
    assert.equal(bodies().length, sending ? 1 : 0);
    await context.close();
  }
});

test("a page that was put aside sends nothing that was withdrawn meanwhile, and what was not", async () => {
  for (const withdrawn of [true, false]) {
    const { context, bodies } = await person();
    const task = await arms();
    const page = await blank(context);
    await page.evaluate(() => Object.defineProperty(BroadcastChannel.prototype, "onmessage", { set() {} }));
    await page.evaluate(open, { server, task, options: {} });
    await visit(page, null, 1);
    await page.evaluate(() => void dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true })));
    const other = await opened(context, task);
    if (withdrawn) await other.evaluate(() => device.optOut());
    await page.evaluate(() => {
      later += 7200;
      dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
    });
    await page.evaluate(ENDS.hidden);
    await pause(300);
    await page.evaluate(ENDS.hidden);
    await (withdrawn ? pause(300) : until(async () => (await journal(task)) === 1));
    assert.equal(bodies().length, withdrawn ? 0 : 1);
    await context.close();
  }
});

test("in the background what is due is sent", async () => {
  const { context } = await person();
  const task = await arms({ reward: { wait: "0s" }, delay: "0s" });
  const tabs = [await opened(context, task), await opened(context, task)];
  for (const page of tabs) await page.evaluate(() => device.start(0.05));
  await visit(tabs[0], null, null);
  await until(async () => (await journal(task)) === 1);
  for (const page of tabs) await page.evaluate(() => device.stop());
  await context.close();
});
