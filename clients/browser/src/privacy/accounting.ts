/** What one person who answers several times has spent, and the limit that holds. */

import { spelled, type Budget } from "../protocol/budget.js";
import { BudgetExhausted } from "../protocol/errors.js";
import type { Mechanism } from "./base.js";
import { verify } from "./mechanisms.js";
import { NOTHING, plus, total, type Spent } from "./spent.js";

/** How `delta.js` counts below the sum of all epsilons, for limits with a delta; without it epsilons are added up. */
export const WITH_DELTA: {
  deltaOf?: (spent: Spent, epsilon: number) => number;
  epsilonOf?: (spent: Spent, delta: number) => number;
} = {};

/** What one report of this mechanism spends; its promise must be kept. */
export function costOf(mechanism: Mechanism): Spent {
  verify(mechanism);
  return mechanism.cost();
}

/**
 * A person's account: a limit and what was spent. It holds whatever budgets a server offered when, also in the light of
 * earlier answers (`adaptive` in Python).
 */
export class Ledger {
  constructor(
    readonly limit: Budget,
    readonly spent: Spent = NOTHING,
  ) {}

  /** The account after one more report; refuses what would pass the limit or breaks its promise. */
  spend(mechanism: Mechanism): Ledger {
    const after = new Ledger(this.limit, plus(this.spent, costOf(mechanism)));
    if (after.fits()) return after;
    throw new BudgetExhausted(
      `spent so far: epsilon ${this.spentEpsilon()}; one more report would make it epsilon ${after.spentEpsilon()}; ` +
        `the limit is ${spelled(this.limit)}`,
    );
  }

  /** How many more such reports fit, up to 2^53. */
  remaining(mechanism: Mechanism): number {
    const one = costOf(mechanism);
    const fits = (count: number) => new Ledger(this.limit, plus(this.spent, one, count)).fits();
    let [fit, tooMany] = [0, 1];
    while (tooMany < 2 ** 53 && fits(tooMany)) [fit, tooMany] = [tooMany, 2 * tooMany];
    while (tooMany - fit > 1) {
      const middle = Math.floor((fit + tooMany) / 2);
      if (fits(middle)) fit = middle;
      else tooMany = middle;
    }
    return fit;
  }

  /** What was spent, at the limit's delta. */
  spentEpsilon(): number {
    const { delta } = this.limit;
    return Math.min(total(this.spent), (delta > 0 ? WITH_DELTA.epsilonOf?.(this.spent, delta) : null) ?? Infinity);
  }

  /** Room for the rounding of sums only: 1e-12 of epsilon, and 1e-9 of delta. */
  fits(): boolean {
    const { epsilon, delta } = this.limit;
    if (total(this.spent) <= epsilon * (1 + 1e-12)) return true;
    return delta > 0 && (WITH_DELTA.deltaOf?.(this.spent, epsilon) ?? 1) <= delta * (1 + 1e-9);
  }
}
