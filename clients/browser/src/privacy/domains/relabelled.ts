/** The three messages of one person in the paper's generalised linear algorithm. */

import type { Shape } from "./base.js";
import { moments } from "./moments.js";

/** x x', z x and r x of one person together, for ||x|| <= 1, |z| <= label_bound and |r| <= residual_bound. */
export function relabelled(dimension: number, labelBound: number, residualBound: number, weight: number): Shape {
  const [size, , labelled] = moments(dimension, labelBound, labelBound);
  const [, , gradient] = moments(dimension, residualBound, weight);
  return [
    size + dimension,
    Math.sqrt(1 + labelBound ** 2 + weight ** 2),
    (features, residual, label) => [
      ...labelled(features!, label!),
      ...gradient(features!, residual!).slice(-dimension),
    ],
  ];
}
