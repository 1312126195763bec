/** A page of another origin, a real server behind it, and a browser. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import http from "node:http";
import { after } from "node:test";
import { launch } from "./chromium.mjs";

const { SOTTOVOCE_SERVER: server, SOTTOVOCE_ADMIN_TOKEN: token } = process.env;
assert(server && token, "these tests are run by tests/browser/test_chromium.py, which starts a server");

const DIST = new URL("../dist/", import.meta.url);
const PAGE = "<!doctype html><title>a page</title><link rel=icon href=data:,><p>a page</p>";
/** What docs/browser.md recommends. */
const POLICY = `default-src 'none'; script-src 'self'; connect-src ${server}; img-src data:`;

/** Pages and scripts that a test adds, by their path; without a policy. */
export const added = {};

const site = http.createServer(({ url: asked }, answer) => {
  const [url] = asked.split("?");
  answer.setHeader("content-type", /js$/.test(url) ? "text/javascript" : "text/html");
  if (!added[url]) answer.setHeader("content-security-policy", POLICY);
  answer.end(added[url] ?? (url.endsWith(".js") ? readFileSync(new URL(url.slice(1), DIST)) : PAGE));
});
await new Promise((listening) => site.listen(0, "127.0.0.1", listening));
export const origin = `http://127.0.0.1:${site.address().port}`;
export { server };
export const browser = await launch();
after(async () => {
  await browser.close();
  site.closeAllConnections();
  site.close();
});

export const HOUR = 3600;
export const PERSON = { age: 34 };
const ARMS = {
  learner: "kl-ucb",
  actions: ["a", "b", "c"],
  horizon: 2000,
  expires: "2099-12-31",
  privacy: { epsilon: 1.0, lifetime: 20.0 },
  reward: { wait: "1h" },
  delay: "10m",
  publish_every: 1000,
  origins: [origin],
};
const MODEL = {
  ...ARMS,
  learner: "gradient",
  actions: ["a", "b"],
  fields: { age: { kind: "number", low: 0.0, high: 100.0 } },
};

export async function admin(method, path, body) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return fetch(server + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
}

let number = 0;
async function create(kind, file) {
  const id = `${kind}-${process.pid}-${++number}`;
  const answer = await admin("POST", "/v1/tasks", { ...file, id });
  assert.equal(answer.status, 201, await answer.text());
  return id;
}

/** A new task with tickets; its id. */
export const arms = (changes = {}) => create("arms", { ...ARMS, ...changes });

/** A new task with a model, once there is one. */
export async function model(changes = {}) {
  const id = await create("model", { ...MODEL, ...changes });
  while (!(await (await fetch(`${server}/v1/tasks/${id}`)).json()).version) await pause(50);
  return id;
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Wait for the claim to hold. */
export async function until(claim, seconds = 20) {
  for (const end = Date.now() + 1000 * seconds; !(await claim()); await pause(20)) {
    assert(Date.now() < end, "waited too long");
  }
}

/** How many reports of the task are in the journal. */
export async function journal(id) {
  const lines = (await (await admin("GET", `/v1/tasks/${id}/export`)).text()).trim().split("\n");
  return lines.length - 1;
}

/** How often the server has answered a route with this status, for all tasks. */
export async function answered(route, status) {
  const page = await (await fetch(`${server}/metrics`)).text();
  return Number(new RegExp(`requests_total{route="[^"]*/${route}",status="${status}"} (\\d+)`).exec(page)?.[1] ?? 0);
}

/** A browser profile of its own. What its pages ask the server is in `requests`, what they ask their own in `files`. */
export async function person() {
  const context = await browser.newContext();
  const [requests, files] = [[], []];
  context.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.url().startsWith(`${origin}/`)) files.push(pathname);
    if (request.url().startsWith(server)) {
      requests.push({
        method: request.method(),
        path: pathname.split("/").slice(4).join("/"),
        body: request.postData(),
      });
    }
  });
  return {
    context,
    requests,
    files,
    bodies: () => requests.filter(({ path }) => path === "reports").map(({ body }) => body),
  };
}

/** A page with a device: `device` in it; `later` seconds are added to its clock. */
export async function opened(context, task, options = {}) {
  const page = await blank(context);
  await page.evaluate(open, { server, task, options });
  return page;
}

export async function blank(context, path = "/") {
  const page = await context.newPage();
  page.on("pageerror", (error) => console.error("page error:", error));
  await page.goto(origin + path);
  return page;
}

/** In the page, which imports nothing but the device: what a task needs more loads itself. */
export async function open({ server, task, options }) {
  const { Device } = await import("/sottovoce.js");
  globalThis.later ??= 0;
  const { admitted, ...others } = options;
  const admission = admitted && { admission: (tickets) => globalThis.signed(tickets) };
  const now = () => Date.now() / 1000 + later;
  globalThis.device = await Device.open(server, task, { now, ...admission, ...others });
}

/** Choose, and observe a reward where there is one. */
export function visit(page, fields, reward) {
  return page.evaluate(
    async ([fields, reward]) => {
      const decision = await device.choose(fields ?? undefined);
      return [decision, reward === null ? null : await device.observe(decision.id, reward)];
    },
    [fields, reward],
  );
}

/** Send when so many seconds have passed. */
export function sentAfter(page, seconds) {
  return page.evaluate((seconds) => {
    later += seconds;
    return device.send();
  }, seconds);
}
