/** Fields: what an app knows of a person or of a candidate, as a task declares them. */

import { checked, read, real, text, word, type Read, type Reader } from "./strict.js";

/** Absent where half the range is the middle. */
const middle: Reader<number | null> = (value, at) => (value == null ? null : real(value, at));

const KINDS = {
  number: checked(
    { kind: word("number"), low: real, high: real, middle },
    "low < middle < high",
    ({ low, high, middle }) => low < (middle ?? high) && (middle ?? low) < high,
  ),
  category: checked(
    { kind: word("category"), values: [text] as const },
    "different values",
    ({ values }) => values.length > 1 && new Set(values).size === values.length,
  ),
  flag: { kind: word("flag") },
};

type Kinds = { [Kind in keyof typeof KINDS]: Read<(typeof KINDS)[Kind]> };

/** A number in a declared range, one of a few words, or yes or no. */
export type Field = Kinds[keyof Kinds];
export type Fields = Record<string, Field>;

export const field: Reader<Field> = (value, at) => {
  const kind = word("number", "category", "flag")((value as Partial<Field> | null)?.kind, at);
  return read(KINDS[kind], value, at) as Field;
};
