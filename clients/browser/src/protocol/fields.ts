/** Fields: what an app knows of a person or of a candidate, as a task declares them. */

import { WireError } from "./errors.js";
import { kinds, list, real, shape, text, word, type Read } from "./strict.js";

const number = shape({ kind: word("number"), low: real, high: real });
const category = shape({ kind: word("category"), values: list(text) });

/** A number in a declared range, one of a few words, or yes or no. */
export const field = kinds({
  number: (value, at) => {
    const found = number(value, at);
    if (!(found.low < found.high)) throw new WireError(`${at} must have low < high`);
    return found;
  },
  category: (value, at) => {
    const found = category(value, at);
    if (found.values.length < 2 || new Set(found.values).size < found.values.length) {
      throw new WireError(`${at} must have at least two different values`);
    }
    return found;
  },
  flag: shape({ kind: word("flag") }),
});

export type Field = Read<typeof field>;
export type Fields = Record<string, Field>;

/** Coordinates of one encoded person or candidate: a constant, and those of every field. */
export function widthOf(fields: Fields): number {
  return Object.values(fields).reduce((sum, one) => sum + (one.kind === "category" ? one.values.length : 1), 1);
}
