/** Pages that know nothing of parts: what a task needs more is loaded from beside the device's own file. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  added,
  arms,
  blank,
  HOUR,
  journal,
  model,
  open,
  origin,
  PERSON,
  person,
  sentAfter,
  server,
  visit,
} from "./harness.mjs";

added["/classic"] =
  "<!doctype html><title>classic</title><link rel=icon href=data:,><script src=/sottovoce.classic.js></script>";

/** In a page with the classic script. */
async function openClassic({ server, task, options = {} }) {
  globalThis.later ??= 0;
  const now = () => Date.now() / 1000 + later;
  globalThis.device = await sottovoce.Device.open(server, task, { now, ...options });
}

/** In a page with the device that has features in it. */
async function openWithFeatures({ server, task, options = {} }) {
  const { Device } = await import("/sottovoce.with-features.js");
  globalThis.later ??= 0;
  globalThis.device = await Device.open(server, task, { now: () => Date.now() / 1000 + later, ...options });
}

/** Where each device is tried, how a task is opened with it, and the parts that it has within. */
const DEVICES = [
  ["/", "sottovoce.js", open, []],
  ["/classic", "sottovoce.classic.js", openClassic, []],
  ["/", "sottovoce.with-features.js", openWithFeatures, ["features"]],
];

for (const [path, file, opening, within] of DEVICES) {
  test(`a page with nothing but ${file} reports to tasks that need no part, or some`, async () => {
    const limits = { delta: 1e-5, lifetimeDelta: 1e-3 };
    const noisy = { preset: "paper", privacy: { epsilon: 1.0, delta: 1e-6, lifetime: 20.0, lifetime_delta: 1e-4 } };
    const points = { actions: undefined, dimension: 2, region: { kind: "ball", radius: 1.0 } };
    for (const [task, parts, fields = PERSON, reward = 1] of [
      [await arms(), [], null],
      [await arms({ ...points, learner: "newton" }), ["learners"], null],
      [await arms({ ...points, learner: "two-point" }), ["learners"], null, [1, 0]],
      [await model({ learner: "scale-free" }), ["features"]],
      [await model(), ["features", "learners"]],
      [await model({ learner: "linucb" }), ["features", "learners"]],
      [await model({ learner: "scale-free", holdout: { share: 0.25 } }), ["features", "holdout"]],
      [await model({ holdout: { share: 0.25 } }), ["features", "learners", "holdout"]],
      [await model({ ...noisy, learner: "linucb" }), ["features", "learners", "delta"]],
    ]) {
      const { context, files } = await person();
      const page = await blank(context, path);
      await page.evaluate(opening, { server, task, options: { limits } });
      const [{ reported, problem }, kept] = await visit(page, fields, reward);
      assert.deepEqual([reported, kept, problem], [true, true, ""]);
      assert.equal((await sentAfter(page, 2 * HOUR)).acknowledged, 1);
      assert.equal(await journal(task), 1);
      const once = parts.filter((part) => !within.includes(part)).map((part) => `/${part}.js`);
      assert.deepEqual(files, [path, `/${file}`, ...once]);
      await context.close();
    }
  });

  test(`${file} says which file it could not have, and why; then nothing is joined`, async () => {
    const allowed = [file, "features.js"].map((file) => `${origin}/${file}`).join(" ");
    const policy = `<meta http-equiv=content-security-policy content="script-src ${allowed}">`;
    added[`/strict${path}`] = policy + (added[path] ?? "");
    for (const [where, answer] of [
      [path, (route) => route.abort()],
      [path, (route) => route.fulfill({ status: 404 })],
      [`/strict${path}`, undefined],
    ]) {
      const { context, requests } = await person();
      const task = await model();
      if (answer) await context.route("**/learners.js", answer);
      const page = await blank(context, where);
      const place = `${origin}/learners.js`;
      const why = new RegExp(`ContractRefused.*wanted ./learners.js for "generalized", got Failed to fetch.* ${place}`);
      await assert.rejects(page.evaluate(opening, { server, task, options: {} }), why);
      assert.deepEqual(
        requests.map(({ path }) => path),
        ["contract"],
      );
      await context.unrouteAll();
      await page.goto(origin + path);
      await page.evaluate(opening, { server, task, options: {} });
      assert((await visit(page, PERSON, 1))[0].reported);
      await context.close();
    }
  });

  test(`a page that cannot wait imports a part of ${file} itself, and may do so twice`, async () => {
    const { context } = await person();
    const task = await model();
    const page = await blank(context, path);
    for (const address of ["/features.js", "/learners.js", "/learners.js"]) {
      await page.evaluate((address) => import(address).then(() => {}), address);
    }
    for (const part of ["features", "learners"]) await context.route(`**/${part}.js`, (route) => route.abort());
    await page.evaluate(opening, { server, task, options: {} });
    assert((await visit(page, PERSON, 1))[0].reported);
    await context.close();
  });

  test(`what was joined waits for a part that ${file} cannot have, and goes on with it`, async () => {
    const { context } = await person();
    const task = await model();
    const first = await blank(context, path);
    await first.evaluate(opening, { server, task, options: {} });
    await visit(first, PERSON, 1);
    await first.close();
    await context.route(`${server}/**`, (route) => route.abort());
    await context.route("**/learners.js", (route) => route.abort());
    const without = await blank(context, path);
    await assert.rejects(without.evaluate(opening, { server, task, options: {} }), /wanted .\/learners/);
    await context.unrouteAll();
    const again = await blank(context, path);
    await again.evaluate(opening, { server, task, options: {} });
    assert.equal((await sentAfter(again, 2 * HOUR)).acknowledged, 1);
    await context.close();
  });
}
