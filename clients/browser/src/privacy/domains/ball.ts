/** Messages in a ball: one number, a vector of bounded length, the gradient of a generalised linear loss. */

import { admitNumber, admitVector, clip, length, ROUNDING, shorten, times, type Domain } from "./base.js";

function inBall(kind: string, dimension: number, bound: number, embed: Domain["embed"]): Domain {
  return {
    kind,
    blocks: [dimension],
    radius: bound,
    numbers: { dimension, bound },
    embed,
    contains: (message) => length(message) <= bound * (1 + ROUNDING),
  };
}

/** One number in a declared range; the message is its position between -1 and 1. */
export function interval(low: number, high: number): Domain {
  const half = (high - low) / 2;
  const middle = (high + low) / 2;
  return inBall("interval", 1, 1, (value) => [clip((admitNumber(value) - middle) / half, -1, 1)]);
}

/** A vector whose Euclidean norm is at most `bound`; longer ones are shortened. */
export function ball(dimension: number, bound: number): Domain {
  return inBall("ball", dimension, bound, (vector) => shorten(admitVector(vector, dimension), bound));
}

/** residual * x for ||x|| <= 1 and |residual| <= bound: its norm is at most `bound`. */
export function gradient(dimension: number, bound: number): Domain {
  return inBall("gradient", dimension, bound, (features, residual) =>
    times(shorten(admitVector(features, dimension), 1), clip(admitNumber(residual), -bound, bound)),
  );
}
