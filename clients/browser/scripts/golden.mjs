/**
 * Renews TypeScript's half of the golden vectors, tests/golden/*.typescript.json. `make golden`.
 *
 * The other half is made by scripts/golden.py; tests in both languages read both. Inputs come from a fixed seed;
 * `vectors.mjs` says what TypeScript answers to them.
 */
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import * as devices from "./cases/devices.mjs";
import { restart } from "./cases/inputs.mjs";
import * as live from "./cases/live.mjs";
import { mechanisms } from "./cases/mechanisms.mjs";
import { answer, FOLDER, TOPICS } from "./vectors.mjs";

const CASES = { mechanisms, ...devices, ...live };

/** The file, a vector a line. Written randomness is cut to what was used. */
export async function textOf(topic) {
  restart(TOPICS.indexOf(topic));
  const lines = [];
  for (let [what, given] of CASES[topic]()) {
    const gives = await answer(topic, given);
    if (given.random) given = { ...given, random: given.random.slice(0, 2 * (gives.used ?? 0)) };
    lines.push(JSON.stringify({ what, given, gives }));
  }
  return `[\n${lines.join(",\n")}\n]\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const topic of TOPICS) writeFileSync(new URL(`${topic}.typescript.json`, FOLDER), await textOf(topic));
}
