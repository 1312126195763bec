/** The provider for OpenFeature with the real web SDK; the app is examples/openfeature/web. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { added, admin, arms, blank, browser, journal, model, person, server, until } from "./harness.mjs";

const path = (from) => fileURLToPath(new URL(from, import.meta.url));
/** A script for a page, with the SDK and our provider in it. */
async function bundled(contents) {
  const alias = {
    app: path("../../../examples/openfeature/web/main.js"),
    "sottovoce/openfeature": path("../dist/openfeature.js"),
    "@openfeature/web-sdk": path("../node_modules/@openfeature/web-sdk/dist/esm/index.js"),
  };
  const made = await build({ stdin: { contents }, alias, bundle: true, format: "esm", write: false });
  return made.outputFiles[0].text;
}

added["/openfeature.js"] = await bundled(
  'export * from "app"; export * from "@openfeature/web-sdk"; export * from "sottovoce/openfeature"',
);
added["/app"] = "<!doctype html><title>an app</title><link rel=icon href=data:,>";

const CHECKOUT = { learner: "kl-moss", actions: ["Quiet", "Friendly", "Urgent"], horizon: 300, publish_every: 10 };

/** A page with OpenFeature in it. `sent` counts the reports that were answered, `later` is added to its clock. */
async function app() {
  const context = await browser.newContext();
  const asked = [];
  context.on("request", (request) => asked.push(`${request.url()} ${request.postData() ?? ""}`));
  const page = await blank(context, "/app");
  await page.evaluate(async () => {
    Object.assign(globalThis, { of: await import("/openfeature.js"), later: 0, sent: 0 });
    const counted = async (...given) => {
      const answer = await fetch(...given);
      sent += `${given[0]}`.endsWith("/reports");
      return answer;
    };
    globalThis.options = (others) => ({ now: () => Date.now() / 1000 + later, fetch: counted, ...others });
    /** A provider with one flag, and what a client says of it. */
    globalThis.flagged = async (server, task, flag = {}, others = {}) => {
      const provider = new of.SottovoceProvider(server, { flag: { task, ...flag } }, options(others));
      await of.OpenFeature.setProviderAndWait(provider).catch(() => {});
      return of.OpenFeature.getClient();
    };
  });
  return { context, page, asked };
}

test("three hundred visitors teach a flag", async () => {
  const task = await arms({ ...CHECKOUT, privacy: { epsilon: 4.0 }, reward: { wait: "1s" }, delay: "0s" });
  const { context, page } = await app();
  const shown = [];
  for (let first = 0; first < 300; first += 60) {
    shown.push(...(await page.evaluate(visitors, [server, task, first])));
    await until(async () => (await journal(task)) === first + 60);
  }
  const best = shown.slice(-100).filter((name) => name === "Friendly").length;
  assert(best > 80, `${best} of the last hundred saw the best button`); // the simulator, without delay: 90 or more in 20,000 of 20,000 runs
  await context.close();
});

/** In the page: sixty visitors at a time, each with storage of their own, until their reports were answered. */
async function visitors([server, task, first]) {
  const buys = { Quiet: 0.1, Friendly: 0.9, Urgent: 0.3 };
  const one = async (number) => {
    const visitor = `visitor ${number}`;
    const { button, bought } = await of.visit(
      server,
      options({ task, visitor, storage: visitor, every: 0.2, now: undefined }),
    );
    if (Math.random() < buys[button.variant]) bought();
    return button.variant;
  };
  const shown = await Promise.all(Array.from({ length: 60 }, (_, i) => one(first + i)));
  while (sent < first + 60) await new Promise((done) => setTimeout(done, 50));
  await of.OpenFeature.clearProviders();
  return shown;
}

test("one question is one decision until its reward is tracked or its fields change", async () => {
  const { context, page, asked } = await app();
  const task = await model();
  const found = await page.evaluate(
    async ([server, task]) => {
      const client = await flagged(server, task);
      await of.OpenFeature.setContext({ targetingKey: "somebody", age: 34, colour: "mauve" });
      const ask = () => client.getStringDetails("flag", "a");
      const first = [ask(), ask()];
      client.track("flag", { colour: "mauve" }); // not a reward
      first.push(ask());
      client.track("flag", { value: 1 });
      first.push(ask());
      await of.OpenFeature.setContext({ age: 35 });
      first.push(ask());
      return first;
    },
    [server, task],
  );
  assert.deepEqual(
    found.map(({ reason }) => reason),
    ["TARGETING_MATCH", "CACHED", "CACHED", "TARGETING_MATCH", "TARGETING_MATCH"],
  );
  assert.deepEqual(found[0].flagMetadata, { task, epsilon: 1 });
  assert(["a", "b"].includes(found[0].variant) && found[0].value === found[0].variant);
  for (const secret of ["somebody", "mauve", "34"]) {
    assert(!asked.some((request) => request.includes(`"${secret}"`) || request.includes(`${secret}/`)), secret);
  }
  await context.close();
});

test("an unknown flag, a wrong type, a bad context and a dead server give the default and say why", async () => {
  const { context, page } = await app();
  const found = await page.evaluate(
    async ([server, task, plain]) => {
      const said = ({ value, reason, errorCode }) => [value, reason, errorCode];
      const client = await flagged(server, task);
      const answers = {
        unknown: said(client.getStringDetails("nothing", "usual")),
        type: said(client.getNumberDetails("flag", 7)),
        context: said(client.getStringDetails("flag", "usual")),
      };
      const wrong = await flagged(server, plain, { values: { a: 1 } });
      answers.values = said(wrong.getNumberDetails("flag", 7));
      const dead = await flagged("http://127.0.0.1:9", "anything", {}, { storage: "elsewhere" });
      answers.dead = said(dead.getStringDetails("flag", "usual"));
      return answers;
    },
    [server, await model(), await arms()],
  );
  assert.deepEqual(found, {
    unknown: ["usual", "ERROR", "FLAG_NOT_FOUND"],
    type: [7, "ERROR", "TYPE_MISMATCH"],
    context: ["usual", "ERROR", "INVALID_CONTEXT"],
    values: [7, "ERROR", "GENERAL"],
    dead: ["usual", "ERROR", "PROVIDER_NOT_READY"],
  });
  await context.close();
});

test("without budget or consent the flag has its default", async () => {
  const { context, page } = await app();
  const task = await arms({ privacy: { epsilon: 1.0, lifetime: 1.0 } });
  const reasons = await page.evaluate(
    async ([server, task]) => {
      const client = await flagged(server, task, {}, { storage: "one" });
      const ask = () => client.getStringDetails("flag", "usual");
      const reasons = [ask().reason];
      client.track("flag", { value: 1 });
      await new Promise((done) => setTimeout(done, 300)); // it is paid for
      reasons.push([ask().value, ask().reason]);
      const { Device } = await import("/sottovoce.js");
      const device = await Device.open(server, task, { storage: "two" });
      await device.optOut();
      device.close();
      const other = await flagged(server, task, {}, { storage: "two" });
      const last = other.getStringDetails("flag", "usual");
      return [...reasons, [last.value, last.reason]];
    },
    [server, task],
  );
  assert.deepEqual(reasons, ["SPLIT", ["usual", "DEFAULT"], ["usual", "DISABLED"]]);
  await context.close();
});

test("a paused task and a new model are events, and hooks run", async () => {
  const { context, page } = await app();
  const task = await model();
  await page.evaluate(
    async ([server, task]) => {
      globalThis.events = [];
      of.OpenFeature.addHandler("PROVIDER_CONFIGURATION_CHANGED", ({ flagsChanged }) => events.push(...flagsChanged));
      of.OpenFeature.addHooks({ after: ({ flagKey }, { variant }) => (globalThis.hooked = [flagKey, variant]) });
      const client = await flagged(server, task, {}, { every: 0.05, now: () => (later += 60) });
      await of.OpenFeature.setContext({ age: 34 });
      globalThis.variant = client.getStringDetails("flag", "a").variant;
    },
    [server, task],
  );
  assert.deepEqual(await page.evaluate(() => hooked), ["flag", await page.evaluate(() => variant)]);
  assert.equal((await admin("POST", `/v1/tasks/${task}/pause`, {})).status, 200);
  await until(() => page.evaluate(() => events.includes("flag")));
  await context.close();
});

test("the lines of docs/openfeature.md work as they are printed", async () => {
  const manual = readFileSync(new URL("../../../docs/openfeature.md", import.meta.url), "utf8");
  const task = await arms(CHECKOUT);
  const code = /```js\n(.*?)```/s.exec(manual)[1].replace("https://learn.example", server);
  added["/lines.js"] = await bundled(code.replace("checkout: {", `checkout: { task: "${task}",`));
  added["/lines"] =
    "<!doctype html><link rel=icon href=data:,><button></button><script type=module src=/lines.js></script>";
  const { context } = await person();
  const page = await blank(context, "/lines");
  await page.waitForFunction(() =>
    ["Buy", "Yes, please", "Buy now!"].includes(document.querySelector("button").textContent),
  );
  await page.click("button");
  const waiting = async () => {
    const { Device } = await import("/sottovoce.js");
    const device = await Device.open(...globalThis.asked);
    return (await device.outbox()).length;
  };
  await page.evaluate((asked) => void (globalThis.asked = asked), [server, task]);
  await until(async () => (await page.evaluate(waiting)) === 1);
  await context.close();
});
