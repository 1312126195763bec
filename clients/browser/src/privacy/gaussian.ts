/** What Gaussian noise costs: the delta for two messages so far apart, and for all that a person has sent. */

import { bisect, logNormalCdf, normalCdf, normalQuantile } from "./special.js";
import { exactSum, type Spent } from "./spent.js";

/** Steps of the grid in one unit of noise scale. */
export const RESOLUTION = 2 ** 24;

/** The delta of continuous Gaussian noise for two messages `distance` noise units apart; any real epsilon. */
export function gaussianDelta(epsilon: number, distance: number): number {
  if (distance === 0) return Math.max(0, 1 - Math.exp(epsilon));
  const first = normalCdf(distance / 2 - epsilon / distance);
  const second = Math.exp(Math.min(epsilon + logNormalCdf(-distance / 2 - epsilon / distance), 0));
  return Math.max(0, first - second);
}

/** The delta with discrete noise in so many coordinates: the smaller of two bounds, by total variation and by the ratio. */
export function discreteDelta(epsilon: number, distance: number, coordinates: number): number {
  const noised = coordinates * RESOLUTION ** -2;
  const byVariation = gaussianDelta(epsilon, distance) + ((1 + Math.exp(Math.min(epsilon, 700))) * noised) / 12;
  const byRatio = Math.exp(200 * noised) * gaussianDelta(epsilon - 400 * noised, distance);
  return Math.min(1, byVariation, byRatio);
}

/**
 * The distance of one Gaussian report that costs no less than all that was spent, also where later budgets were chosen in
 * the light of earlier answers: the trade-off curve of a pure report lies above the Gaussian one through its corner.
 */
function distanceOf({ pure, squared }: Spent): number {
  const ofPure = pure.map(([epsilon, count]) => count * (2 * normalQuantile(1 / (1 + Math.exp(epsilon)))) ** 2);
  return Math.sqrt(squared + exactSum(ofPure));
}

/** The delta for which all that was spent is (epsilon, delta)-private. */
export function deltaOf(spent: Spent, epsilon: number): number {
  return discreteDelta(epsilon, distanceOf(spent), spent.coordinates);
}

/** The epsilon for which all that was spent is (epsilon, delta)-private. */
export function epsilonOf(spent: Spent, delta: number): number {
  const distance = distanceOf(spent);
  const missing = (epsilon: number) => delta - discreteDelta(epsilon, distance, spent.coordinates);
  return missing(0) >= 0 ? 0 : bisect(missing, 0, distance ** 2 / 2 + 40 * distance);
}
