/** Messages in a ball: one number, a vector of bounded length, the gradient of a generalised linear loss. */

import { clip, finite, finites, shorten, times, type Shape } from "./base.js";

/** One number in a declared range; the message is its position between -1 and 1. */
export function interval(low: number, high: number): Shape {
  return [1, 1, (value) => [clip((finite(value) - (high + low) / 2) / ((high - low) / 2), -1, 1)]];
}

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
