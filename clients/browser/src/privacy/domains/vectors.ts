/** What domains of vectors share. */

import { BadInput, must } from "../../protocol/errors.js";
import { norm, number, type Vector } from "./base.js";

export function times(vector: Vector, by: number): Vector {
  return vector.map((x) => x * by);
}

/** The vector itself, or the point of the ball in its direction. */
export function shorten(vector: Vector, bound: number): Vector {
  return times(vector, Math.min(1, bound / Math.max(norm(vector), 1e-300)));
}

/** The direction of a vector: it has the length 1, or 0 where the vector is 0. */
export function unit(vector: Vector): Vector {
  const most = Math.max(...vector.map(Math.abs), 1e-300); // squares of short vectors would be zero
  const scaled = vector.map((x) => x / most);
  const long = Math.max(norm(scaled), 1e-300);
  return scaled.map((x) => x / long);
}

/** A vector of so many finite numbers. */
export function numbers(raw: unknown, dimension: number): Vector {
  must(Array.isArray(raw) && raw.length === dimension, BadInput, `${dimension} numbers`, raw);
  return raw.map(number);
}
