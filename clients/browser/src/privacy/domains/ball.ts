/** Messages in a ball: a vector of bounded length, the gradient of a generalised linear loss. */

import { clip, number, type Shape } from "./base.js";
import { numbers, shorten, times } from "./vectors.js";

/** A vector whose Euclidean norm is at most `bound`; longer ones are shortened. */
export function ball(dimension: number, bound: number): Shape {
  return [dimension, bound, (vector) => shorten(numbers(vector, dimension), bound)];
}

/** residual * x for ||x|| <= 1 and |residual| <= bound: its norm is at most `bound`. */
export function gradient(dimension: number, bound: number): Shape {
  return [
    dimension,
    bound,
    (features, residual) => times(shorten(numbers(features, dimension), 1), clip(number(residual), -bound, bound)),
  ];
}
