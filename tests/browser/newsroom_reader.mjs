/**
 * A reader opens the newsroom. Arguments: the page's address, and the folder of the reader's browser. Standard output: the
 * tasks that were joined, and the answers for the device's files.
 */
import { launchIn } from "../../clients/browser/chromium/chromium.mjs";

const [address, folder] = process.argv.slice(2);
const FILES = ["sottovoce.js", "delta.js", "features.js", "holdout.js", "learners.js"];
const context = await launchIn(folder);
const page = await context.newPage();
await page.goto(address);
await page.waitForSelector("#accounts table");
const joined = await page.locator("#accounts tbody td:first-child").allTextContents();
await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
const answers = (files) => Promise.all(files.map(async (file) => (await fetch(file)).status));
console.log(JSON.stringify({ joined, answers: await page.evaluate(answers, FILES) }));
await context.close();
