/**
 * Simulated readers of the newsroom in Chromium, each in a browser context of their own. Standard input: the page's
 * address and, for each visit, the stories of the day, which of them the reader follows, and what the reader would open.
 * Standard output: what each was shown, every request to the learning server, and the lengths of the reports.
 */
import { text } from "node:stream/consumers";
import { launch } from "../../clients/browser/chromium/chromium.mjs";

const LANES = 4; // readers at a time
const LATER = 70_000; // milliseconds after which both reports are due
const { page: address, visits } = JSON.parse(await text(process.stdin));
const edition = await (await fetch(`${address}/edition.json`)).json();
const browser = await launch();
const results = Array(visits.length);
let next = 0;
await Promise.all(Array.from({ length: LANES }, lane));
await browser.close();
console.log(JSON.stringify(results));

/** One reader after another in the same window; in between everything that the browser keeps for the page is deleted. */
async function lane() {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  const tools = await context.newCDPSession(page);
  let [requests, problems, reports] = [[], [], []];
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== address) requests.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  page.on("response", (response) => {
    const request = response.request();
    if (request.url().endsWith("/reports") && request.method() === "POST") reports.push(request.postData().length);
  });
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await page.route("**/favicon.ico", (route) => route.fulfill({ status: 204 }));
  await page.clock.install();
  while (next < visits.length) {
    const number = next++;
    await arrive(page, tools, visits[number].stories);
    [requests, problems, reports] = [[], [], []];
    const shown = await visit(page, visits[number], () => reports.length);
    results[number] = { ...shown, requests, problems, reports };
  }
}

/** A page of the same origin, without anything of the reader before, and with what this one has followed earlier. */
async function arrive(page, tools, stories) {
  await page.goto(`${address}/icon.svg`);
  await tools.send("Storage.clearDataForOrigin", { origin: address, storageTypes: "indexeddb,local_storage" });
  const series = stories.flatMap((story, i) => (story.followed ? [`Series ${i}`] : []));
  await page.evaluate((value) => localStorage.setItem("followed series", value), JSON.stringify(series));
}

async function visit(page, { stories, opens }, sent) {
  const named = stories.map((story, i) => ({ ...story, title: `Story ${i}`, series: `Series ${i}` }));
  await page.route("**/edition.json", (route) => route.fulfill({ json: { ...edition, stories: named } }), { times: 1 });
  await page.clock.setSystemTime(new Date()); // the last reader's clock was put forward
  await page.goto(address);
  await page.waitForSelector("#lead[data-choice]", { state: "attached" });
  await page.waitForSelector("#stories .title", { state: "attached" });
  const shown = await page.evaluate(read, opens);
  await page.waitForFunction(() => !document.querySelector(".opened:not([data-kept])"), null, { polling: 20 });
  await page.clock.fastForward(LATER);
  for (let tries = 0; sent() < 2 && tries < 1000; tries++) {
    await page.clock.runFor(500);
    await new Promise((done) => setTimeout(done, 10));
  }
  return shown;
}

/** In the page: what is shown, and opened where the reader would open it. */
function read(opens) {
  const lead = document.querySelector("#lead");
  const first = document.querySelector("#stories .title");
  const [headline, story] = [lead.dataset.choice, Number(first.dataset.choice)];
  if (opens.lead[headline]) lead.click();
  if (opens.stories[story]) first.click();
  return { headline, story };
}
