/**
 * Discrete Gaussian and discrete Laplace noise on a grid, one scale per block of the message. The proofs are in the
 * Python package, beside the numbers.
 *
 * The samplers follow Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (2020), algorithms 1
 * to 3: exact Bernoulli(exp(-x)) trials on rationals, no floating point.
 */

import { BadInput, BrokenPromise } from "../protocol/errors.js";
import { maybe, read, real, text } from "../protocol/strict.js";
import type { Build } from "./base.js";
import { distancesOf } from "./distances.js";
import { integerBelow, type Entropy } from "./entropy.js";
import { discreteDelta, RESOLUTION } from "./gaussian.js";
import { round } from "./levels.js";
import { NOTHING, pureReport } from "./spent.js";

const STEPS = BigInt(RESOLUTION);
const MOST = 2n ** 63n - 1n;

type Sampler = (scale: bigint, entropy: Entropy) => bigint;

function onGrid(sampler: Sampler): Build {
  return (domain, budget, numbers) => {
    const { scales, formula } = read({ scales: [real], formula: maybe(text, "analytic") } as const, numbers, "scales");
    const { blocks, l1, l2, contains } = distancesOf(domain);
    const each = blocks.flatMap((length, i) => Array<number>(length).fill(scales[i]!));
    /** How far apart two messages can be, in units of the noise, rounding included. */
    const distance = () => l2(scales) + (2 * Math.sqrt(domain.size)) / RESOLUTION;
    const { epsilon, delta } = budget;
    return {
      domain,
      budget,
      coinSize: 0,
      reportSize: 8 * domain.size,
      verify() {
        if (scales.length !== blocks.length || !scales.every((scale) => scale > 0)) {
          throw new BrokenPromise(`one positive scale per block is needed, got ${scales}`);
        }
        if (sampler === discreteLaplace) {
          const spent = l1(scales) + (2 * domain.size) / RESOLUTION;
          if (!(spent <= epsilon * (1 + 1e-12))) throw new BrokenPromise(`promises epsilon ${epsilon}, gives ${spent}`);
          return;
        }
        const given = discreteDelta(epsilon, distance(), domain.size);
        if (!(delta > 0 && given <= delta * (1 + 1e-9))) {
          throw new BrokenPromise(`formula ${formula} promises delta ${delta} at epsilon ${epsilon}, gives ${given}`);
        }
      },
      cost: () =>
        sampler === discreteLaplace
          ? pureReport(epsilon)
          : { ...NOTHING, squared: distance() ** 2, coordinates: domain.size },
      /** Round to the grid, add the noise, saturate at 64 bits (post-processing). */
      draw(message, entropy) {
        if (!contains(message)) throw new BadInput(`the message is outside its domain, ${domain.kind}`);
        const noise = message.map(() => sampler(STEPS, entropy));
        const report = new DataView(new ArrayBuffer(8 * domain.size));
        message.forEach((m, i) => {
          const sum = BigInt(round((m / each[i]!) * RESOLUTION)) + noise[i]!;
          report.setBigInt64(8 * i, sum > MOST ? MOST : sum < -MOST ? -MOST : sum);
        });
        return new Uint8Array(report.buffer);
      },
    };
  };
}

/** An integer with probability ~ exp(-k^2 / (2 sigma^2)). */
export const discreteGaussian: Sampler = (sigma, entropy) => {
  const scale = sigma + 1n;
  for (;;) {
    const drawn = discreteLaplace(scale, entropy);
    const distance = (drawn < 0n ? -drawn : drawn) * scale - sigma * sigma;
    if (bernoulliExp(distance * distance, 2n * sigma * sigma * scale * scale, entropy)) return drawn;
  }
};

/** An integer with probability ~ exp(-|k| / scale). */
export const discreteLaplace: Sampler = (scale, entropy) => {
  for (;;) {
    const fine = integerBelow(scale, entropy.octets);
    if (!bernoulliExp(fine, scale, entropy)) continue;
    let coarse = 0n;
    while (bernoulliExp(1n, 1n, entropy)) coarse++;
    const magnitude = fine + scale * coarse;
    const negative = integerBelow(2, entropy.octets) === 1n;
    if (!negative || magnitude) return negative ? -magnitude : magnitude;
  }
};

/** True with probability exp(-numerator / denominator), exactly. */
function bernoulliExp(numerator: bigint, denominator: bigint, entropy: Entropy): boolean {
  for (; numerator > denominator; numerator -= denominator) if (!bernoulliExp(1n, 1n, entropy)) return false;
  let k = 1n;
  while (integerBelow(denominator * k, entropy.octets) < numerator) k++;
  return k % 2n === 1n;
}

export const gaussian = onGrid(discreteGaussian);
export const laplace = onGrid(discreteLaplace);
