/** Messages of one number. */

import { clip, number, type Shape } from "./base.js";

/** One number in a declared range; the message is its position between -1 and 1. */
export function interval(low: number, high: number): Shape {
  return [1, 1, (value) => [clip((number(value) - (high + low) / 2) / ((high - low) / 2), -1, 1)]];
}
