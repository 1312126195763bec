/** Links: how the mean reward follows from <x, theta>. */

import { maybe, read, real, refuse, text, type Read } from "./strict.js";

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

const declared = { name: text, radius: maybe(real, 1), maximum: maybe(real, 6) };

/** A link for ||x|| <= 1 and ||theta|| <= radius; `maximum` is the largest count of a Poisson reward. */
export function link(value: unknown, at: string): Link {
  const found = read(declared, value, at);
  return Object.hasOwn(MEANS, found.name) && found.radius > 0 && found.maximum > 0 ? found : refuse(at, "a known link");
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
