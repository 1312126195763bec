/** The normal distribution function, as a link and for Gaussian noise. */

/** Where it is taken as constant; it is 1e-9 from its limits there. */
const FARTHEST = 6;

/** The normal density. */
export function normalSlope(z: number): number {
  return Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
}

/** The normal distribution function, to 2e-15 between -FARTHEST and FARTHEST, to 1e-9 elsewhere. */
export function normalMean(z: number): number {
  z = Math.max(-FARTHEST, Math.min(FARTHEST, z));
  let series = 1;
  for (let odd = 121; odd > 1; odd -= 2) series = 1 + ((z * z) / odd) * series;
  return 0.5 + normalSlope(z) * z * series;
}
