/** What every mechanism is: numbers that keep a promise, and a draw. */

import type { Budget } from "../protocol/budget.js";
import { BrokenPromise, must } from "../protocol/errors.js";
import type { Domain, Vector } from "./domains/index.js";
import type { Entropy } from "./entropy.js";
import type { Spent } from "./spent.js";

export interface Mechanism {
  readonly domain: Domain;
  readonly budget: Budget;
  /** Bytes of public randomness that a report answers; 0 where it needs none. */
  readonly coinSize: number;
  /** Bytes that the device adds, whatever it says. */
  readonly reportSize: number;
  /** Raise `BrokenPromise` unless the numbers keep the budget. */
  verify(): void;
  /** What one report spends, as the accounting counts it. */
  cost(): Spent;
  /** What is sent for a message of the domain; `drawing.privatise` calls it and nobody else. */
  draw(message: Vector, entropy: Entropy, coin: Uint8Array): Uint8Array;
}

/** From a domain, a budget and the numbers of a contract to the mechanism, which is verified elsewhere. */
export type Build = (domain: Domain, budget: Budget, numbers: Record<string, unknown>) => Mechanism;

/**
 * Refuse weights whose ratio is above e^epsilon (1 - 2^-51), compared in whole numbers: e^epsilon is at least 1, so
 * 2^52 times it is whole. A `total` from 2^53 cannot be drawn below exactly.
 */
export function verifyWeights(more: number, less: number, epsilon: number, total: number): void {
  const kept =
    1 <= less &&
    less <= more &&
    BigInt(more) << 103n <= BigInt(less) * BigInt(Math.exp(epsilon) * 2 ** 52) * (2n ** 51n - 1n);
  must(kept && total < 2 ** 53, BrokenPromise, `weights that keep epsilon ${epsilon}`, [more, less]);
}
