/** Links: how the mean reward follows from <x, theta>. */

import { lookUp, MEANS } from "./registry.js";
import { checked, maybe, real, text, type Read } from "./strict.js";

const declared = { name: text, radius: maybe(real, 1), maximum: maybe(real, 6) };

/** A link for ||x|| <= 1 and ||theta|| <= radius; `maximum` is the largest count of a Poisson reward. */
export const link = checked(declared, "a positive radius and maximum", ({ name, radius, maximum }) => {
  lookUp("link", name, MEANS);
  return radius > 0 && maximum > 0;
});

export type Link = Read<typeof declared>;

/** The lowest and the highest reward. */
export function rangeOf(link: Link): [number, number] {
  return [link.name === "identity" ? -1 : 0, link.name === "poisson" ? link.maximum : 1];
}
