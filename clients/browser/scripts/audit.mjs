/**
 * The browser device as a program that `sottovoce audit TASK --device "node scripts/audit.mjs"` can ask: the domain, the
 * gate and the randomness are those of a real Chromium. An argument names another folder than build/ to take the device
 * from. What is asked and answered is described in src/sottovoce/lab/audit/program.py.
 */
import { readFileSync } from "node:fs";
import http from "node:http";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL, fileURLToPath } from "node:url";
import { launch } from "../chromium/chromium.mjs";

const folder = process.argv[2] ?? fileURLToPath(new URL("../build", import.meta.url));
const build = pathToFileURL(`${resolve(folder)}/`);
const question = JSON.parse(await text(process.stdin));
const site = http.createServer(({ url }, answer) => {
  answer.setHeader("content-type", url === "/" ? "text/html" : "text/javascript");
  answer.end(url === "/" ? "<!doctype html><link rel=icon href=data:,>" : readFileSync(new URL(url.slice(1), build)));
});
await new Promise((listening) => site.listen(0, "127.0.0.1", listening));
const browser = await launch();
const page = await browser.newPage();
await page.goto(`http://127.0.0.1:${site.address().port}/`);
process.stdout.write(await page.evaluate(answers, question));
await browser.close();
site.close();

/** In the page: so many reports, a line each: the coin, then what was drawn. */
async function answers({ contract, gate, person, count }) {
  const [{ contractFrom }, { mechanismsOf }, { privatise }, { SYSTEM }, { coinOf }, { toHex }] = await Promise.all(
    [
      "protocol/contract",
      "privacy/mechanisms",
      "privacy/drawing",
      "privacy/entropy",
      "protocol/permits",
      "protocol/codec",
      "features",
      "learners",
    ].map((file) => import(`/${file}.js`)),
  );
  const mechanism = mechanismsOf(contractFrom(new TextEncoder().encode(contract)))[gate];
  let lines = "";
  for (let i = 0; i < count; i++) {
    const coin = await coinOf(SYSTEM.octets(24), SYSTEM.octets(12));
    const drawn = privatise(mechanism, mechanism.domain.embed(...person), SYSTEM, coin);
    lines += `${toHex(coin.slice(0, mechanism.coinSize))}${toHex(drawn)}\n`;
  }
  return lines;
}
