/** k-level randomised response: one byte for one number. The proof is in the Python package, beside the numbers. */

import { pack } from "../protocol/codec.js";
import { BrokenPromise, must } from "../protocol/errors.js";
import { read, whole } from "../protocol/strict.js";
import { verifyWeights, type Build } from "./base.js";
import { pureReport } from "./spent.js";

/** Places between two neighbouring levels; the rounding of a place costs accuracy, never privacy. */
const RESOLUTION = 2 ** 40;

const NUMBERS = { levels: whole, keep: whole, flip: whole };

export const levels: Build = (domain, budget, numbers) => {
  const { levels: count, keep, flip } = read(NUMBERS, numbers, "levels");
  const total = keep + (count - 1) * flip;
  const reportSize = count <= 256 ? 1 : 2;
  return {
    domain,
    budget,
    coinSize: 0,
    reportSize,
    verify() {
      verifyWeights(keep, flip, budget.epsilon, total);
      const fits = domain.kind === "interval" && count > 1 && count <= 65536;
      must(fits, BrokenPromise, "2 to 65536 levels of an interval", [count, domain.kind]);
    },
    cost: () => pureReport(budget.epsilon),
    /** Round at random to a neighbouring level, then answer truthfully or not. */
    draw([message], entropy) {
      const last = count - 1;
      const place = Math.min(last * RESOLUTION, Math.max(0, round(((message! + 1) / 2) * last * RESOLUTION)));
      let level = Math.floor(place / RESOLUTION);
      if (entropy.below(RESOLUTION) < place % RESOLUTION) level++;
      const drawn = entropy.below(total);
      const other = Math.floor((drawn - keep) / flip);
      return pack(drawn < keep ? level : other + +(other >= level), reportSize);
    },
  };
};

/** To the nearest whole number, halves to the even one. */
export function round(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  return rest > 0.5 || (rest === 0.5 && low % 2) ? low + 1 : low;
}
