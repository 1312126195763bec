/** What a device refuses, and what it does without. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  admin,
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
  visit,
} from "./harness.mjs";

test("without storage or without Web Locks it chooses, does not report, and says so", async () => {
  for (const blocked of [
    () =>
      (IDBFactory.prototype.open = () => {
        throw new DOMException("denied", "SecurityError");
      }),
    () => Object.defineProperty(Navigator.prototype, "locks", { value: undefined }),
    () => {
      // a page without https
      Object.defineProperty(Navigator.prototype, "locks", { value: undefined });
      Object.defineProperty(Crypto.prototype, "subtle", { value: undefined });
    },
  ]) {
    for (const [task, fields] of [
      [await arms(), null],
      [await model(), PERSON],
    ]) {
      const { context, requests } = await person();
      await context.addInitScript(blocked);
      const page = await opened(context, task);
      const [{ action, reported, problem }, kept] = await visit(page, fields, 1);
      assert([0, 1, 2].includes(action));
      assert.deepEqual([reported, kept], [false, false]);
      assert.match(problem, /no storage or no Web Locks/);
      assert.deepEqual(await sentAfter(page, 2 * HOUR), { acknowledged: 0, refused: 0, waiting: 0 });
      assert(!requests.some(({ path }) => path === "permits" || path === "reports"));
      assert.equal((await page.evaluate(() => device.balance())).reportsLeft, 0);
      await context.close();
    }
  }
});

test("on a full disk, and after a visitor has cleared the site's data, it chooses all the same and says so", async () => {
  for (const [task, fields] of [
    [await arms(), null],
    [await model(), PERSON],
    [await model({ holdout: { share: 0.25 } }), PERSON],
  ]) {
    const { context, requests } = await person();
    const page = await opened(context, task);
    await page.evaluate(async () => {
      const { name } = (await indexedDB.databases())[0];
      await new Promise((deleted) => (indexedDB.deleteDatabase(name).onsuccess = deleted));
    });
    const [{ action, reported, problem }] = await visit(page, fields, null);
    assert([0, 1, 2].includes(action));
    assert.equal(reported, false);
    assert.match(problem, /no ticket at hand|nothing is reported: (InvalidStateError|no permit at hand)/);
    const full = await blank(context);
    await full.evaluate(() => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException("the disk is full", "QuotaExceededError");
      };
    });
    await full.evaluate(open, { server, task, options: {} });
    const [decision, kept] = await visit(full, fields, 1);
    assert([0, 1, 2].includes(decision.action));
    assert.deepEqual([decision.reported, kept], [false, false]);
    assert.match(decision.problem, /no storage/);
    assert(!requests.some(({ path }) => path === "reports"));
    await context.close();
  }
});

test("a contract that changes under the same id is refused, and what waits is withdrawn", async () => {
  const { context, bodies } = await person();
  const [task, other] = [await arms(), await arms({ privacy: { epsilon: 2.0 } })];
  const page = await opened(context, task);
  await visit(page, null, 1);
  await context.route(`${server}/v1/tasks/${task}**`, (route) =>
    route.continue({ url: route.request().url().replace(task, other) }),
  );
  const late = await blank(context);
  await late.evaluate(() => (globalThis.later = 90_000)); // a task with tickets asks for its status once a day
  await assert.rejects(late.evaluate(open, { server, task, options: {} }), /ContractChanged/);
  assert.deepEqual(await page.evaluate(() => device.outbox()), []);
  const [{ reported, problem }] = await visit(page, null, 1);
  assert.deepEqual([reported, problem], [false, "nothing is reported: closed"]);
  assert.deepEqual(bodies(), []);
  await context.close();
});

test("what a changed contract withdraws does not leave when the page is closed either", async () => {
  const { context, bodies } = await person();
  const [task, other] = [await arms({ reward: { wait: "48h" } }), await arms()];
  const page = await opened(context, task);
  await visit(page, null, 1);
  await context.route(`${server}/v1/tasks/${task}`, async (route) => {
    route.fulfill({ response: await route.fetch({ url: `${server}/v1/tasks/${other}` }) });
  });
  await sentAfter(page, 25 * HOUR); // the status is asked for once a day
  assert.equal(await page.evaluate(() => device.reporting), "closed");
  await page.evaluate(() => {
    later += 48 * 3600;
    Object.defineProperty(document, "hidden", { value: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  });
  await pause(300);
  assert.deepEqual(bodies(), []);
  await context.close();
});

test("a page of an origin that the task does not name gets nothing", async () => {
  const { context, requests } = await person();
  const task = await arms({ origins: ["https://shop.example"] });
  await assert.rejects(opened(context, task), /Unreachable/);
  assert.deepEqual(
    requests.map(({ path }) => path),
    ["contract"],
  );
  await context.close();
});

test("a task that asks for what this device does not know is refused", async () => {
  const { context } = await person();
  await context.route("**/contract", async (route) => {
    const contract = await (await route.fetch()).json();
    await route.fulfill({ json: { ...contract, extensions: { later: true } } });
  });
  await assert.rejects(opened(context, await model()), /ContractRefused.*unknown extension "later"/);
  await context.close();
});

test("the owner's limits hold whatever the task asks for", async () => {
  const { context } = await person();
  const task = await arms({ privacy: { epsilon: 2.0, lifetime: 20.0 } });
  await assert.rejects(opened(context, task, { limits: { epsilon: 0.1 } }), /ContractRefused.*asks for/);
  const page = await opened(context, task, { limits: { epsilon: 1.5, lifetime: 2.5 } });
  const made = [];
  for (let i = 0; i < 3; i++) made.push(await visit(page, null, 1));
  assert.deepEqual(
    made.map(([{ reported }]) => reported),
    [true, true, false],
  ); // through the gate of epsilon 1
  assert.equal(made[2][0].problem, "nothing is reported: spent");
  assert.equal((await page.evaluate(() => device.outbox()))[0].report.gate, 1);
  await assert.rejects(opened(context, "nothing"), /Unreachable: .* name this page's origin/);
  await assert.rejects(opened(context, "Nothing!"), /ConfigurationError: wanted a task's id/);
  await context.close();
});

test("a paused task gets no reports until it is open again", async () => {
  const { context } = await person();
  const task = await arms();
  const page = await opened(context, task);
  await visit(page, null, 1);
  await admin("POST", `/v1/tasks/${task}/pause`);
  assert.deepEqual(await sentAfter(page, 2 * HOUR), { acknowledged: 0, refused: 0, waiting: 1 });
  assert.equal((await visit(page, null, 1))[0].reported, false);
  await admin("POST", `/v1/tasks/${task}/resume`);
  await sentAfter(page, 120); // it is seen to be open
  assert.equal((await sentAfter(page, 1)).acknowledged, 1);
  await context.close();
});

const problem = (status, name) => [status, JSON.stringify({ type: `urn:sottovoce:problem:${name}` })];

test("words that no server of ours says change nothing: the report stays for an honest answer", async () => {
  const task = await arms();
  const { context } = await person();
  const page = await opened(context, task);
  await visit(page, null, 1);
  await sentAfter(page, 2 * HOUR - 7200);
  await page.evaluate(() => void (later = 7200));
  for (const [status, body] of [
    problem(400, "of-my-own"),
    [400, '{"type":"urn:sottovoce:problem:bad-request","x":"' + "y".repeat(2 ** 17) + '"}'],
    [200, '{"verdicts":["of-my-own"]}'],
    [200, '{"verdicts":["accepted","accepted"]}'],
    [200, '{"verdicts":[]}'],
    [200, "[".repeat(10 ** 5)],
    [200, "<html>Welcome to the hotel</html>"],
    [404, "<html>no such page</html>"],
    [302, ""],
    [500, "oops"],
    problem(429, "too-many-requests"),
  ]) {
    const cors = { "access-control-allow-origin": "*", location: "http://elsewhere.example" };
    await context.route("**/reports", (route) => route.fulfill({ status, body, headers: cors }));
    assert.deepEqual(
      await sentAfter(page, 3601),
      { acknowledged: 0, refused: 0, waiting: 1 },
      `${status} ${body.slice(0, 40)}`,
    );
    await context.unroute("**/reports");
  }
  assert.equal(await journal(task), 0);
  assert.equal((await sentAfter(page, 3601)).acknowledged, 1);
  assert.equal(await journal(task), 1);
  await context.close();
});

test("permits and models that are none are not kept", async () => {
  const task = await model();
  const { context } = await person();
  const page = await blank(context);
  let answer;
  const headers = { "access-control-allow-origin": "*" };
  const hostile = (route) =>
    route.request().url().endsWith(answer[0]) ? route.fulfill({ body: answer[1], headers }) : route.continue();
  await context.route(`${server}/**`, hostile);
  const permits = ["A".repeat(4100), "A", "AB", "not base64", "AAAA=", "ÄÄÄÄ", "AA+/", null, 7];
  for (const [path, body] of [
    ...permits.map((permit) => ["permits", { permits: [{ permit, expires: 2 ** 40 }] }]),
    ["model", { theta: Array(10 ** 5).fill(0) }],
    ["model", { kind: "generalized" }],
  ]) {
    answer = [path, JSON.stringify(body)];
    await page.evaluate(open, { server, task, options: { storage: answer[1].slice(0, 99) } });
    const [{ reported, problem }] = await visit(page, PERSON, 1);
    assert.equal(reported, false);
    assert.match(problem, path === "model" ? /no model yet/ : /no permit at hand/);
  }
  await context.close();
});

test("a window opens again, and a clock that is put back frees nothing", async () => {
  const { context } = await person();
  const task = await model({ privacy: { epsilon: 1.0, lifetime: 4.0, window: 2.0, window_days: 1 } });
  const page = await opened(context, task);
  await page.evaluate(() => device.prefetch(6));
  const reported = async (after) => {
    await page.evaluate((after) => void (later += after), after);
    return (await visit(page, PERSON, 1))[0].reported;
  };
  assert.deepEqual([await reported(0), await reported(-30 * 24 * HOUR), await reported(0)], [true, true, false]);
  assert.equal(await reported(30 * 24 * HOUR), false);
  assert.deepEqual([await reported(26 * HOUR), await reported(0), await reported(0)], [true, true, false]);
  assert.equal(await reported(72 * HOUR), false); // the lifetime is spent
  await context.close();
});
