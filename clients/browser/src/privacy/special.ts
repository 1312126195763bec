/** The few special functions that Gaussian noise and its accounting need. */

import { normalMean, normalSlope } from "../protocol/probit.js";

/** From here outwards the continued fraction is exact to the last digits; inside, the series is. */
const TAIL = 2;

/** The normal density over its upper tail at x >= TAIL, by Laplace's continued fraction. */
function hazard(x: number): number {
  let fraction = x;
  for (let k = 200; k > 0; k--) fraction = x + k / fraction;
  return fraction;
}

/** The standard normal distribution function. */
export function normalCdf(x: number): number {
  if (x > TAIL) return 1 - normalCdf(-x);
  return x < -TAIL ? normalSlope(x) / hazard(-x) : normalMean(x);
}

/** log(normalCdf(x)), finite far into the lower tail. */
export function logNormalCdf(x: number): number {
  return x < -TAIL ? (-x * x) / 2 - Math.log(Math.sqrt(2 * Math.PI) * hazard(-x)) : Math.log(normalCdf(x));
}

/** The inverse of `normalCdf`, for p up to 1/2. */
export function normalQuantile(p: number): number {
  const target = Math.log(p);
  return bisect((x) => logNormalCdf(x) - target, -40, 0);
}

/** The root of an increasing function between `low` and `high`. */
export function bisect(rising: (x: number) => number, low: number, high: number): number {
  for (let step = 0; step < 200; step++) {
    const middle = 0.5 * (low + high);
    if (middle === low || middle === high) break;
    if (rising(middle) < 0) low = middle;
    else high = middle;
  }
  return high;
}
