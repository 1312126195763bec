/** The sufficient statistics of one person for a linear model. */

import { clip, number, type Shape } from "./base.js";
import { numbers, shorten, times } from "./vectors.js";

/**
 * x x' and y x of one person together, for ||x|| <= 1 and |y| <= reward_bound.
 *
 * The message is (diagonal of x x', sqrt 2 times its upper triangle, weight * y x / reward_bound). The sqrt 2 makes the
 * half-vectorisation an isometry: distances are Frobenius distances.
 */
export function moments(dimension: number, rewardBound: number, weight: number): Shape {
  return [
    (dimension * (dimension + 3)) / 2,
    Math.sqrt(1 + weight ** 2),
    (features, reward) => {
      const x = shorten(numbers(features, dimension), 1);
      const y = clip(number(reward) / rewardBound, -1, 1);
      const upper = x.flatMap((a, i) => x.slice(i + 1).map((b) => Math.SQRT2 * (a * b)));
      return [...x.map((a) => a * a), ...upper, ...times(x, weight * y)];
    },
  ];
}
