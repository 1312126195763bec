/**
 * What is wrong with a page: errors in its console, requests to another origin, things that no keyboard reaches or whose
 * focus is not seen, what axe finds (contrast AA, names, structure), text of figures that is hard to read, and what is
 * cut at the side.
 *
 * `node page_checks.mjs URL...` prints it for two widths and both colour schemes; the exit code is 1 if there is any.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { launch } from "./chromium.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [390, 1280];
const SCHEMES = ["light", "dark"];
const STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** All problems of a page at both widths and in both schemes; `prepare` is called with the page, for a login say. */
export async function problemsOf(browser, url, prepare = async () => {}) {
  const found = [];
  for (const width of WIDTHS)
    for (const colorScheme of SCHEMES) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const problems = await inOneContext(context, url, prepare);
      found.push(...problems.map((problem) => `${width} px, ${colorScheme}: ${problem}`));
      await context.close();
    }
  return found;
}

async function inOneContext(context, url, prepare) {
  const page = await context.newPage();
  const found = [];
  page.on("console", (message) => message.type() === "error" && found.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => found.push(`error: ${error.message}`));
  page.on("request", (request) => foreign(request.url(), url) && found.push(`request to ${request.url()}`));
  await page.goto(url);
  await prepare(page);
  await page.evaluate(AXE);
  found.push(...(await page.evaluate(violations, STANDARDS)));
  found.push(...(await page.evaluate(faintFigures)));
  found.push(...(await page.evaluate(cut)));
  found.push(...(await byKeyboard(page)));
  return found;
}

function foreign(address, url) {
  const [asked, own] = [new URL(address), new URL(url)];
  return !["data:", "blob:"].includes(asked.protocol) && (asked.protocol !== own.protocol || asked.host !== own.host);
}

/** In the page: what axe finds. */
async function violations(standards) {
  const { violations } = await globalThis.axe.run(document, { runOnly: standards });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, any }) => `${id}: ${target.join(" ")} ${any[0]?.message ?? ""}`),
  );
}

/** In the page: text of inline figures, which axe leaves out, against the ground that the figure stands on. */
function faintFigures() {
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const linear = (part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const ground = (element) => {
    const colour = element ? numbers(getComputedStyle(element).backgroundColor) : [255, 255, 255];
    return colour.length === 4 && colour[3] === 0 ? ground(element.parentElement) : colour;
  };
  return [...document.querySelectorAll("svg text")].flatMap((text) => {
    if (!text.textContent.trim() || !text.checkVisibility()) return [];
    const [one, other] = [light(numbers(getComputedStyle(text).fill)), light(ground(text.closest("svg")))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    return contrast < 4.5 ? [`contrast ${contrast.toFixed(2)} of ${JSON.stringify(text.textContent.trim())}`] : [];
  });
}

/** In the page: a page that is wider than its window. */
function cut() {
  const { scrollWidth, clientWidth } = document.documentElement;
  return scrollWidth > clientWidth ? [`${scrollWidth - clientWidth} px are cut at the side`] : [];
}

/** Go through the page with the tabulator: everything that can be used is reached, and one sees where one is. */
async function byKeyboard(page) {
  const count = await page.evaluate(() => {
    const usable = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [onclick]";
    const shown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const sized = (element) => element.getBoundingClientRect().width > 0;
    globalThis.waiting = new Set(
      [...document.querySelectorAll(usable)].filter(
        (one) => shown(one) && sized(one) && !one.disabled && one.tabIndex >= 0,
      ),
    );
    globalThis.looks = (element) => {
      const { outlineStyle, outlineWidth, boxShadow, backgroundColor, color, borderColor } = getComputedStyle(element);
      return [outlineStyle !== "none" && outlineWidth, boxShadow, backgroundColor, color, borderColor].join();
    };
    globalThis.before = new Map([...globalThis.waiting].map((element) => [element, globalThis.looks(element)]));
    return globalThis.waiting.size;
  });
  const unseen = [];
  for (let presses = 0, left = count; left > 0 && presses < 3 * count + 50; presses++) {
    await page.keyboard.press("Tab");
    const here = await page.evaluate(() => {
      const element = document.activeElement;
      globalThis.waiting.delete(element);
      const same = globalThis.before.get(element) === globalThis.looks(element);
      return { unseen: same && element.outerHTML.slice(0, 100), left: globalThis.waiting.size };
    });
    if (here.unseen) unseen.push(`focus is not seen: ${here.unseen}`);
    left = here.left;
  }
  const left = await page.evaluate(() => [...globalThis.waiting].map((element) => element.outerHTML.slice(0, 100)));
  return [...new Set(unseen), ...left.map((one) => `not reached by keyboard: ${one}`)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const browser = await launch();
  for (const url of process.argv.slice(2))
    for (const problem of await problemsOf(browser, url)) {
      console.log(`${url}: ${problem}`);
      process.exitCode = 1;
    }
  await browser.close();
}
