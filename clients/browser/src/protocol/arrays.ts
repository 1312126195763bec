/** Numbers as models and points have them. */

import { must, WireError } from "./errors.js";
import { finite, read, type Reader } from "./strict.js";

/** Finite numbers of this shape: one number, a vector, rows. */
export function array<T>(...[length, ...rest]: number[]): Reader<T> {
  return ((value, at) => {
    if (length === undefined) return finite(value, at);
    const rows = read([array(...rest)], value, at);
    must(rows.length === length, WireError, `${length} as ${at}`, rows.length);
    return rows;
  }) as Reader<T>;
}
