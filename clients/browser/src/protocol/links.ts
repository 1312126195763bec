/** Links: how the mean reward follows from <x, theta>. */

import { must, WireError } from "./errors.js";
import { lookUp, MEANS } from "./registry.js";
import { maybe, read, real, text, type Read } from "./strict.js";

const declared = { name: text, radius: maybe(real, 1), maximum: maybe(real, 6) };

/** A link for ||x|| <= 1 and ||theta|| <= radius; `maximum` is the largest count of a Poisson reward. */
export function link(value: unknown, at: string): Link {
  const found = read(declared, value, at);
  lookUp("link", found.name, MEANS);
  const { radius, maximum } = found;
  must(radius > 0 && maximum > 0, WireError, `a positive radius and maximum in ${at}`, [radius, maximum]);
  return found;
}

export type Link = Read<typeof declared>;

/** The lowest and the highest reward. */
export function rangeOf(link: Link): [number, number] {
  return [link.name === "identity" ? -1 : 0, link.name === "poisson" ? link.maximum : 1];
}
