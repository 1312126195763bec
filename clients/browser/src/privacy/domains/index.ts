/** What a message may be. No mechanism takes a sensitivity as an argument: it asks the domain it was calibrated for. */

import { ConfigurationError, lookUp } from "../../protocol/errors.js";
import { anything, maybe, real, shape, whole, type Reader } from "../../protocol/strict.js";
import { ball, gradient, interval } from "./ball.js";
import type { Domain } from "./base.js";
import { direction } from "./direction.js";
import { moments, relabelled } from "./moments.js";

export { size, type Domain, type Vector } from "./base.js";

const one = maybe(real, 1);
const bounded = { dimension: whole, bound: one };

/** For each kind its numbers, in the order in which its function takes them. */
const DOMAINS: Record<
  string,
  [(...numbers: [number, number, number, number]) => Domain, Record<string, Reader<number>>]
> = {
  interval: [interval, { low: maybe(real, 0), high: one }],
  ball: [ball, bounded],
  gradient: [gradient, bounded],
  moments: [moments, { dimension: whole, reward_bound: one, weight: one }],
  relabelled: [relabelled, { dimension: whole, label_bound: one, residual_bound: one, weight: one }],
  direction: [direction, { dimension: whole, share: maybe(real, 0.2) }],
};

/** The domain that these numbers and their `kind` describe. */
export function domainFrom(numbers: Record<string, unknown>): Domain {
  const kind = String(numbers["kind"]);
  const [domain, readers] = lookUp("domain", kind, DOMAINS);
  const { kind: _, ...read } = shape({ kind: anything, ...readers })(numbers, "the domain");
  const found = Object.values(read) as [number, number, number, number];
  if (kind === "interval" ? !(found[0] < found[1]) : !found.every((number) => number > 0)) {
    throw new ConfigurationError(`these numbers do not describe a domain of kind ${kind}: ${found}`);
  }
  return domain(...found);
}
