/** What a message may be. No mechanism takes a sensitivity as an argument: it asks the domain it was calibrated for. */

import { ConfigurationError, must } from "../../protocol/errors.js";
import { lookUp } from "../../protocol/registry.js";
import { anything, maybe, read, real, type Reader } from "../../protocol/strict.js";
import type { Domain, Shape } from "./base.js";
import { interval } from "./interval.js";

export type { Domain, Vector } from "./base.js";

type Four = [number, number, number, number];

/**
 * For each kind its numbers, in the order in which its function takes them. `features.js` and
 * `learners.js` add those that they bring.
 */
export const DOMAINS: Record<string, [(...numbers: Four) => Shape, Record<string, Reader<number>>]> = {
  interval: [interval, { low: maybe(real, 0), high: maybe(real, 1) }],
};

/** The domain that these numbers and their `kind` describe. */
export function domainFrom(given: Record<string, unknown>): Domain {
  const kind = String(given["kind"]);
  const [domain, readers] = lookUp("domain", kind, DOMAINS);
  const { kind: _, ...found } = read({ kind: anything, ...readers }, given, kind);
  const numbers = Object.values(found) as Four;
  const fits = kind === "interval" ? numbers[1] - numbers[0] > 5e-324 : numbers.every((number) => number > 0);
  must(fits, ConfigurationError, "low < high, else positive numbers", numbers);
  const [size, radius, embed] = domain(...numbers);
  return { kind, numbers, size, radius, embed };
}
