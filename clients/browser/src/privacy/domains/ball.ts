/** Messages in a ball: a vector of bounded length, the gradient of a generalised linear loss. */

import { clip, finite, finites, shorten, times, type Shape } from "./base.js";

/** A vector whose Euclidean norm is at most `bound`; longer ones are shortened. */
export function ball(dimension: number, bound: number): Shape {
  return [dimension, bound, (vector) => shorten(finites(vector, dimension), bound)];
}

/** residual * x for ||x|| <= 1 and |residual| <= bound: its norm is at most `bound`. */
export function gradient(dimension: number, bound: number): Shape {
  return [
    dimension,
    bound,
    (features, residual) => times(shorten(finites(features, dimension), 1), clip(finite(residual), -bound, bound)),
  ];
}
