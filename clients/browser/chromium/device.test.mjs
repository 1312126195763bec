/** What one person's page asks, sends and keeps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  admin,
  arms,
  HOUR,
  journal,
  model,
  opened,
  PERSON,
  person,
  sentAfter,
  server,
  until,
  visit,
} from "./harness.mjs";

test("a person chooses, observes and reports, and the server believes it", async () => {
  for (const [task, fields] of [
    [await arms(), null],
    [await model(), PERSON],
    [await model({ learner: "scale-free", actions: [], candidates: 3 }), [PERSON, { age: 80 }]],
  ]) {
    const { context } = await person();
    const page = await opened(context, task);
    const [decision, kept] = await visit(page, fields, 1);
    assert(decision.reported && kept && decision.problem === "");
    assert.equal(decision.name, (await page.evaluate(() => device.contract.offers.actions))[decision.action] ?? "");
    const [waiting] = await page.evaluate(() => device.outbox());
    assert.equal(waiting.epsilon, 1);
    assert.deepEqual(await sentAfter(page, 0), { acknowledged: 0, refused: 0, waiting: 1 });
    assert.deepEqual(await sentAfter(page, 2 * HOUR), { acknowledged: 1, refused: 0, waiting: 0 });
    assert.equal(await journal(task), 1);
    assert.deepEqual(
      await page.evaluate(() => device.balance().then(({ spent, reportsLeft }) => [spent, reportsLeft])),
      [1, 19],
    );
    await context.close();
  }
});

test("the only requests are contract, status, model, permits or tickets, and reports", async () => {
  for (const [task, fields, wanted, parts] of [
    [await arms(), null, ["", "contract", "offers", "reports"], []],
    [await model(), PERSON, ["", "contract", "model", "permits", "reports"], ["/features.js", "/learners.js"]],
  ]) {
    const { context, requests, files } = await person();
    const elsewhere = [];
    context.on("request", (request) => elsewhere.push(new URL(request.url()).host));
    const page = await opened(context, task);
    await visit(page, fields, 1);
    await sentAfter(page, 2 * HOUR);
    await page.evaluate(() => device.optOut());
    const asked = requests.filter(({ method }) => method !== "OPTIONS");
    assert.deepEqual([...new Set(asked.map(({ path }) => path))].sort(), wanted);
    assert.equal(new Set(elsewhere).size, 2);
    assert.deepEqual(files, ["/", "/sottovoce.js", ...parts]); // each once
    await context.close();
  }
});

test("every report body has the same length, whatever the person does", async () => {
  for (const [task, visits] of [
    [
      await arms(),
      [
        [null, 1],
        [null, 0],
        [null, null],
        [null, "five"],
        [null, 7],
      ],
    ],
    [
      await model(),
      [
        [PERSON, 1],
        [PERSON, null],
        [{ age: 99 }, 0],
        [{}, 1],
        ["nobody", "nothing"],
      ],
    ],
  ]) {
    const { context, bodies } = await person();
    const page = await opened(context, task);
    await page.evaluate(() => device.prefetch(5));
    for (const [fields, reward] of visits) assert((await visit(page, fields, reward))[0].reported);
    assert.equal((await sentAfter(page, 2 * HOUR)).waiting + bodies().length, 5);
    await sentAfter(page, HOUR); // what nobody observed was drawn just now, with a delay
    assert.equal(new Set(bodies()).size, 5);
    assert.equal(new Set(bodies().map((body) => body.length)).size, 1);
    assert.equal(await journal(task), 5);
    await context.close();
  }
});

test("raw data is forgotten as soon as the report is drawn, which is then on the disk", async () => {
  const { context } = await person();
  const page = await opened(context, await model());
  const decision = await page.evaluate((person) => device.choose(person), PERSON);
  const kept = () =>
    page.evaluate(async () => {
      const request = indexedDB.open("sottovoce");
      await new Promise((done) => (request.onsuccess = done));
      const rows = request.result.transaction("tasks").objectStore("tasks").getAll();
      await new Promise((done) => (rows.onsuccess = done));
      request.result.close();
      return rows.result.flatMap(({ decisions }) => decisions).map(({ raw }) => raw.flat().length);
    });
  assert.deepEqual(await kept(), [4]);
  const durable = await page.evaluate(async (id) => {
    const honest = IDBDatabase.prototype.transaction;
    const found = [];
    IDBDatabase.prototype.transaction = function (...given) {
      found.push(given[2].durability);
      return honest.apply(this, given);
    };
    await device.observe(id, 1);
    IDBDatabase.prototype.transaction = honest;
    return found;
  }, decision.id);
  assert.deepEqual(durable, ["strict"]);
  assert.deepEqual(await kept(), []);
  await context.close();
});

test("a reward counts once, after the deadline never, and an unobserved decision reports the default", async () => {
  const { context } = await person();
  const page = await opened(context, await arms());
  const [decision, first] = await visit(page, null, 1);
  const again = await page.evaluate((id) => device.observe(id, 0), decision.id);
  const [silent] = await visit(page, null, null);
  const late = await page.evaluate((id) => ((later += 3601), device.observe(id, 1)), silent.id);
  assert.deepEqual(
    [first, again, late, await page.evaluate(() => device.observe("nobody", 1))],
    [true, false, false, false],
  );
  assert.equal((await page.evaluate(() => device.outbox())).length, 2);
  await context.close();
});

test("a choice without waiting is reported like any other", async () => {
  for (const [task, fields] of [
    [await arms(), undefined],
    [await model(), PERSON],
  ]) {
    const { context } = await person();
    const page = await opened(context, task);
    const [name, recorded, kept] = await page.evaluate(async (fields) => {
      await device.prefetch(2);
      const { id, name, recorded } = device.chooseNow(fields);
      const observed = device.observe(id, 1); // before it is written down
      return [name, await recorded, await observed];
    }, fields);
    assert.equal(recorded.name, name);
    assert(recorded.reported && kept);
    assert.equal((await sentAfter(page, 2 * HOUR)).acknowledged, 1);
    await context.close();
  }
});

test("offline it chooses and keeps its reports, and catches up", async () => {
  const { context } = await person();
  const task = await arms();
  const page = await opened(context, task);
  await page.evaluate(() => device.prefetch(3));
  await context.setOffline(true);
  const cut = (url) =>
    fetch(url, { mode: "no-cors" }).then(
      () => false,
      () => true,
    );
  await until(() => page.evaluate(cut, `${server}/healthz`)); // the browser may need a moment
  for (let i = 0; i < 3; i++) assert((await visit(page, null, 1))[0].reported);
  const [without] = await visit(page, null, 1);
  assert.deepEqual([without.reported, without.problem], [false, "no ticket at hand"]);
  assert.deepEqual(await sentAfter(page, 2 * HOUR), { acknowledged: 0, refused: 0, waiting: 3 });
  await context.setOffline(false);
  assert.equal((await sentAfter(page, HOUR)).acknowledged, 3);
  assert.equal(await journal(task), 3);
  await context.close();
});

test("what was joined before works without a server, also after a reload", async () => {
  const { context } = await person();
  const task = await model();
  const page = await opened(context, task);
  await page.close();
  await context.route(/\/v1\/tasks\//, (route) => route.abort());
  const again = await opened(context, task);
  assert((await visit(again, PERSON, 1))[0].reported);
  const { context: stranger } = await person();
  await stranger.setOffline(false);
  await stranger.route(/\/v1\/tasks\//, (route) => route.abort());
  await assert.rejects(opened(stranger, task), /Unreachable: the contract of .* cannot be had/);
  await Promise.all([context.close(), stranger.close()]);
});

test("an app hears of a new model and of the task's state, and of nothing else", async () => {
  const { context } = await person();
  const task = await model({ publish_every: 1, reward: { wait: "0s" }, delay: "0s" });
  const page = await opened(context, task);
  await page.evaluate(() => {
    globalThis.heard = [];
    for (const type of ["model", "state"]) device.addEventListener(type, () => heard.push(type));
  });
  await visit(page, PERSON, 1);
  await until(async () => {
    await sentAfter(page, 60);
    return page.evaluate(() => heard.length);
  });
  await admin("POST", `/v1/tasks/${task}/pause`);
  await sentAfter(page, 60);
  assert.deepEqual(await page.evaluate(() => heard), ["model", "state"]);
  await context.close();
});

test("in a holdout the coin says what is shown and reported, and no report says which it is", async () => {
  const task = await model({ holdout: { share: 0.25 } });
  const { context, bodies } = await person();
  const page = await opened(context, task);
  await page.evaluate(() => device.prefetch(16));
  const own = await page.evaluate(async (person) => {
    let own = 0;
    for (let i = 0; i < 16; i++) {
      const decision = await device.choose(person, { baseline: "b" });
      own += decision.name === "b";
      if (!decision.reported) throw new Error(decision.problem);
      await device.observe(decision.id, 1);
    }
    return own;
  }, PERSON);
  assert.equal((await sentAfter(page, 2 * HOUR)).acknowledged, 16); // the server judges each by its coin
  assert.equal(new Set(bodies().map((body) => body.length)).size, 1);
  assert(own > 0, "the app's own choice was never shown: one chance in 65,000");
  await context.close();
});

test("a report of the gradient learner, ten features and epsilon 4, takes less than 3 ms", async () => {
  const field = { kind: "number", low: 0.0, high: 100.0 };
  const fields = { age: field, hour: field, pages: field, visits: field }; // and a constant, for each of two actions
  const task = await model({ fields, privacy: { epsilon: 4.0, lifetime: 600.0 } });
  const { context } = await person();
  const page = await opened(context, task, { limits: { lifetime: 600 } });
  const medians = [];
  while (!(Math.min(...medians) < 3) && medians.length < 3) medians.push(await page.evaluate(medianOf, 50)); // others may use the machine
  assert(Math.min(...medians) < 3, `${medians} ms a report`);
  await context.close();
});

/** In the page: milliseconds from a reward to its report on the disk, the median of so many. */
async function medianOf(reports) {
  await device.prefetch(reports);
  const times = [];
  for (let i = 0; i < reports; i++) {
    const { id, reported } = await device.choose({ age: i, hour: 3, pages: 5, visits: 7 });
    if (!reported || device.contract.domain.dimension !== 10) throw new Error("this is not the report in question");
    const start = performance.now();
    await device.observe(id, i % 2);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[reports >> 1];
}
