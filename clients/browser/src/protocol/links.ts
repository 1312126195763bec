/** Links: how the mean reward follows from <x, theta>. */

import { WireError } from "./errors.js";
import { maybe, real, shape, text, type Read } from "./strict.js";

/** Where the normal distribution function is taken as constant; it is 1e-9 from its limits there. */
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

const MEANS: Record<string, (z: number) => number> = {
  logistic: (z) => (1 + Math.tanh(z / 2)) / 2,
  probit: normalMean,
  poisson: Math.exp,
  identity: (z) => z,
};

const declared = shape({ name: text, radius: maybe(real, 1), maximum: maybe(real, 6) });

/** A link for ||x|| <= 1 and ||theta|| <= radius; `maximum` is the largest count of a Poisson reward. */
export function link(value: unknown, at: string): Link {
  const found = declared(value, at);
  if (!Object.hasOwn(MEANS, found.name) || !(found.radius > 0 && found.maximum > 0)) {
    throw new WireError(`${at} is no link that this device knows`);
  }
  return found;
}

export type Link = Read<typeof declared>;

/** The expected reward where <x, theta> is z. */
export function meanOf(link: Link, z: number): number {
  return MEANS[link.name]!(z);
}

/** The lowest and the highest reward. */
export function rangeOf(link: Link): [number, number] {
  return [link.name === "identity" ? -1 : 0, link.name === "poisson" ? link.maximum : 1];
}
