/** Fields: what an app knows of a person or of a candidate, as a task declares them. */

import { must, WireError } from "./errors.js";
import { read, real, text, word, type Read, type Reader } from "./strict.js";

/** Absent where half the range is the middle. */
const middle: Reader<number | null> = (value, at) => (value == null ? null : real(value, at));

const KINDS = {
  number: { kind: word("number"), low: real, high: real, middle },
  category: { kind: word("category"), values: [text] as const },
  flag: { kind: word("flag") },
};

type Kinds = { [Kind in keyof typeof KINDS]: Read<(typeof KINDS)[Kind]> };

/** A number in a declared range, one of a few words, or yes or no. */
export type Field = Kinds[keyof Kinds];
export type Fields = Record<string, Field>;

export const field: Reader<Field> = (value, at) => {
  const kind = word("number", "category", "flag")((value as Partial<Field> | null)?.kind, at);
  const found = read(KINDS[kind], value, at) as Field;
  const fits =
    found.kind === "category"
      ? found.values.length > 1 && new Set(found.values).size === found.values.length
      : found.kind === "flag" || (found.low < (found.middle ?? found.high) && (found.middle ?? found.low) < found.high);
  must(fits, WireError, `low < middle < high or different values in ${at}`, JSON.stringify(found));
  return found;
};
