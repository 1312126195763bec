/** How long a report takes: gradient learner, ten features, epsilon 4. `npm run speed` prints it. */
import { argv } from "node:process";
import { pathToFileURL } from "node:url";
import "../build/features.js";
import "../build/learners.js";
import { domainFrom } from "../build/privacy/domains/index.js";
import { privatise } from "../build/privacy/drawing.js";
import { SYSTEM } from "../build/privacy/entropy.js";
import { mechanismFrom } from "../build/privacy/mechanisms.js";

/** Milliseconds a report, the median of many; the first of them is not among the best. */
export function measured(reports = 300) {
  const domain = domainFrom({ kind: "gradient", dimension: 10, bound: "0.75" });
  const numbers = { candidates: 32, cap: 3, inside: 57250309, outside: 1048576, mean: "0.5" };
  const mechanism = mechanismFrom("sphere", domain, { epsilon: 4, delta: 0 }, numbers);
  const features = Array.from({ length: 10 }, (_, i) => Math.sin(i) / 4);
  const times = Array.from({ length: reports }, () => {
    const coin = SYSTEM.octets(12);
    const start = performance.now();
    privatise(mechanism, domain.embed(features, 0.3), SYSTEM, coin);
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[reports >> 1];
}

if (import.meta.url === pathToFileURL(argv[1]).href) console.log(`${measured().toFixed(4)} ms a report`);
