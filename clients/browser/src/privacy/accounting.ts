/** What one person who answers several times has spent, and whether a limit holds. */

import type { Budget } from "../protocol/budget.js";
import { plus, total, type Spent } from "./spent.js";

/**
 * How `delta.js` counts what Gaussian noise costs and what many pure reports cost together, for limits with a delta. It
 * holds whatever budgets a server offered when, also in the light of earlier answers. Without it epsilons are added up.
 */
export const WITH_DELTA = {
  deltaOf: (_spent: Spent, _epsilon: number) => Infinity,
  epsilonOf: (_spent: Spent, _delta: number) => Infinity,
};

/** Is it within the limit? Room for the rounding of sums only: 1e-12 of epsilon, and 1e-9 of delta. */
export function fits(spent: Spent, limit: Budget): boolean {
  const { epsilon, delta } = limit;
  return (
    total(spent) <= epsilon * (1 + 1e-12) || (delta > 0 && WITH_DELTA.deltaOf(spent, epsilon) <= delta * (1 + 1e-9))
  );
}

/** What was spent, at the limit's delta. */
export function spentEpsilon(spent: Spent, { delta }: Budget): number {
  return Math.min(total(spent), delta > 0 ? WITH_DELTA.epsilonOf(spent, delta) : Infinity);
}

/** How many more such reports fit, below 2^53: bit by bit, because fewer fit where more do. */
export function remaining(spent: Spent, limit: Budget, one: Spent): number {
  let fit = 0;
  for (let bit = 2 ** 52; bit >= 1; bit /= 2) if (fits(plus(spent, one, fit + bit), limit)) fit += bit;
  return fit;
}
