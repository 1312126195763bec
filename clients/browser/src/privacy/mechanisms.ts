/** The registry of mechanisms, and what is done with any of them. */

import type { Budget } from "../protocol/budget.js";
import type { Contract } from "../protocol/contract.js";
import { BrokenPromise, must } from "../protocol/errors.js";
import { lookUp } from "../protocol/registry.js";
import type { Build, Mechanism } from "./base.js";
import { domainFrom, type Domain } from "./domains/index.js";
import { levels } from "./levels.js";

/** `features.js` and `delta.js` add those that they bring. */
export const MECHANISMS: Record<string, Build> = { levels };

/** Above it one report protects nobody; a device refuses. */
const LARGEST_EPSILON = 12;

/** Raise `BrokenPromise` unless the mechanism's own numbers keep its budget. */
export function verify(mechanism: Mechanism): void {
  const { epsilon } = mechanism.budget;
  must(epsilon > 0 && epsilon <= LARGEST_EPSILON, BrokenPromise, `epsilon between 0 and ${LARGEST_EPSILON}`, epsilon);
  mechanism.verify();
}

/** The mechanism that a contract describes, verified: its numbers keep the budget, or it is refused. */
export function mechanismFrom(
  name: string,
  domain: Domain,
  budget: Budget,
  numbers: Record<string, unknown>,
): Mechanism {
  const mechanism = lookUp("mechanism", name, MECHANISMS)(domain, budget, numbers);
  verify(mechanism);
  return mechanism;
}

/** One for each gate, in order, each verified; refuses numbers that do not keep their budget. */
export function mechanismsOf(contract: Contract): Mechanism[] {
  const domain = domainFrom(contract.domain);
  return contract.gates.map(({ epsilon, delta, numbers }) =>
    mechanismFrom(contract.mechanism, domain, { epsilon, delta }, numbers),
  );
}
