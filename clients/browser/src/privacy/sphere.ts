/** The sphere codebook: one byte for a vector of any length. The proof is in the Python package, beside the numbers. */

import { pack } from "../protocol/codec.js";
import { BrokenPromise, must } from "../protocol/errors.js";
import { read, real, whole } from "../protocol/strict.js";
import { verifyWeights, type Build } from "./base.js";
import { COIN_BYTES, ranking } from "./codebook.js";
import { dot } from "./domains/base.js";
import { times } from "./domains/vectors.js";
import { round } from "./levels.js";
import { pureReport } from "./spent.js";

/** candidates * coordinates: what a contract may ask a device to compute. */
const LARGEST_CODEBOOK = 2 ** 24;

/** The lifted message is rounded to multiples of 1 / FIXED_POINT before it is compared with candidates. */
const FIXED_POINT = 2 ** 15;

const NUMBERS = { candidates: whole, cap: whole, inside: whole, outside: whole, mean: real };

export const sphere: Build = (domain, budget, numbers) => {
  const { candidates, cap, inside, outside } = read(NUMBERS, numbers, "sphere");
  const ofCap = cap * inside;
  const total = ofCap + (candidates - cap) * outside;
  const reportSize = candidates <= 256 ? 1 : 2;
  return {
    domain,
    budget,
    coinSize: COIN_BYTES,
    reportSize,
    verify() {
      verifyWeights(inside, outside, budget.epsilon, total);
      const pairs = candidates / 2;
      const fits = 1 <= cap && cap <= pairs && pairs <= 2 ** 15 && pairs % 1 === 0;
      must(fits, BrokenPromise, "up to 2^15 pairs of candidates and a cap of no more", [candidates, cap]);
      must(candidates * (domain.size + 1) <= LARGEST_CODEBOOK, BrokenPromise, "up to 2^24 numbers", candidates);
    },
    cost: () => pureReport(budget.epsilon),
    /** The coin was tossed whatever the message; draw one index by integer weights. */
    draw(message, entropy, coin) {
      const order = ranking(coin, lift(message, domain.radius), candidates);
      const drawn = entropy.below(total);
      const rank = drawn < ofCap ? drawn / inside : cap + (drawn - ofCap) / outside;
      return pack(order[Math.floor(rank)]!, reportSize);
    },
  };
};

/** The message over its radius, put on the unit sphere by one slack coordinate, in fixed point. */
function lift(message: number[], radius: number): number[] {
  const unit = message.map((x) => x / radius);
  return times([...unit, Math.sqrt(Math.max(0, 1 - dot(unit, unit)))], FIXED_POINT).map(round);
}
