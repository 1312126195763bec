/** The code of docs/browser.md works as it is printed. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { added, arms, journal, origin, person, server, until } from "./harness.mjs";

const MANUAL = readFileSync(new URL("../../../docs/browser.md", import.meta.url), "utf8");
const [MODULE, CLASSIC] = ["js", "html"].map((kind) => new RegExp(`\`\`\`${kind}\n(.*?)\`\`\``, "s").exec(MANUAL)[1]);

for (const [name, html, script] of [
  ["module", '<h1></h1><a href="#read">read</a><script type="module" src="/manual.mjs"></script>', MODULE],
  ["classic script", `<!doctype html><a>read</a>${CLASSIC}`, ""],
]) {
  test(`the ten lines as a ${name} show an action and report`, async () => {
    const { context } = await person();
    const task = await arms({ reward: { wait: "1s" }, delay: "0s" });
    const here = (text) =>
      text.replace("https://learn.example", server).replace("headline", task).replace("start()", "start(0.1)");
    const page = await context.newPage();
    const failures = [];
    page.on("pageerror", (error) => failures.push(error));
    page.on("console", (message) => message.type() === "error" && failures.push(message.text()));
    Object.assign(added, { "/manual": here(html), "/manual.mjs": here(script) });
    await page.goto(`${origin}/manual`);
    await page.waitForFunction(() => ["a", "b", "c"].includes(document.querySelector("h1").textContent));
    await page.click("a");
    await until(async () => (await journal(task)) === 1);
    assert.deepEqual(failures, []);
    await context.close();
  });
}
