/** The sufficient statistics of one person for a linear model. */

import { admitNumber, admitVector, clip, length, ROUNDING, shorten, times, type Domain, type Vector } from "./base.js";

/**
 * x x' and y x of one person together, for ||x|| <= 1 and |y| <= reward_bound.
 *
 * The message is (diagonal of x x', sqrt 2 times its upper triangle, weight * y x / reward_bound). The sqrt 2 makes the
 * half-vectorisation an isometry: distances are Frobenius distances.
 */
export function moments(d: number, rewardBound: number, weight: number): Domain {
  const radius = Math.sqrt(1 + weight ** 2);
  const embed = (features: unknown, reward: unknown) => {
    const x = shorten(admitVector(features, d), 1);
    const y = clip(admitNumber(reward) / rewardBound, -1, 1);
    const upper = x.flatMap((a, i) => x.slice(i + 1).map((b) => Math.SQRT2 * (a * b)));
    return [...x.map((a) => a * a), ...upper, ...times(x, weight * y)];
  };
  return {
    kind: "moments",
    blocks: [d, (d * (d - 1)) / 2, d],
    radius,
    numbers: { dimension: d, reward_bound: rewardBound, weight },
    embed,
    /**
     * The largest diagonal entry of x x' is the square of x's largest coordinate; divided by that coordinate its row is
     * x, up to a sign that neither x x' nor y x tells, and that entry of y x is y.
     */
    contains: (message) => {
      if (!message.every((m) => Math.abs(m) <= radius * (1 + ROUNDING))) return false;
      const squares = message.slice(0, d);
      const place = squares.indexOf(Math.max(...squares));
      const largest = Math.sqrt(Math.max(squares[place]!, 0)) || Infinity; // x = 0 if there is no positive entry
      const x = squares.map((square, i) => (i === place ? square : message[above(i, place)]! / Math.SQRT2) / largest);
      const y = message[message.length - d + place]! / largest / weight;
      const formed = embed(x, clip(y, -1, 1) * rewardBound);
      const apart: Vector = message.map((m, i) => m - formed[i]!);
      return length(apart.slice(0, -d)) <= ROUNDING && length(apart.slice(-d)) <= ROUNDING * weight;
    },
  };

  /** Where the product x_i x_j stands in the message. */
  function above(i: number, j: number): number {
    const row = Math.min(i, j);
    return d + row * d - (row * (row + 1)) / 2 + Math.abs(i - j) - 1;
  }
}

/**
 * x x', z x and r x of one person together, for ||x|| <= 1, |z| <= label_bound and |r| <= residual_bound: the three
 * messages of the paper's generalised linear algorithm.
 */
export function relabelled(d: number, labelBound: number, residualBound: number, weight: number): Domain {
  const labels = moments(d, labelBound, labelBound);
  const gradients = moments(d, residualBound, weight);
  return {
    kind: "relabelled",
    blocks: [...gradients.blocks, d],
    radius: Math.hypot(1, labelBound, weight),
    numbers: { dimension: d, label_bound: labelBound, residual_bound: residualBound, weight },
    embed: (features, residual, label) => [
      ...labels.embed(features!, label!),
      ...gradients.embed(features!, residual!).slice(-d),
    ],
    contains: (message) =>
      labels.contains(message.slice(0, -d)) && gradients.contains([...message.slice(0, -2 * d), ...message.slice(-d)]),
  };
}
