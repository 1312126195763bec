/**
 * Raw fields become a vector in the unit ball.
 *
 * A number is mapped to [-1, 1] (its middle, if it has one, to 0), a flag to -1 or 1, a category to one coordinate per
 * value, and a constant 1 comes first. Of a value that is not known (null) all are 0. Each of these has length at most 1,
 * so the whole divided by sqrt(1 + fields) has length at most 1. Fields are taken in the order of their names.
 *
 * Where the actions have names the fields describe the person: action a has the person's vector in block a and zeros
 * elsewhere. Where there are candidates each brings its own fields.
 */

import { clip, type Vector } from "../privacy/domains/base.js";
import type { ByModel } from "../protocol/byModel.js";
import { toHex } from "../protocol/codec.js";
import { BadInput, must } from "../protocol/errors.js";
import type { Field, Fields } from "../protocol/fields.js";

/** What an app knows, by the names of the fields; null where it does not. */
export type RawFields = Record<string, number | boolean | string | null>;

/** One row of features per action, from the person's fields or from each candidate's. */
export function features({ actions, candidates, fields }: ByModel, raw: unknown): Vector[] {
  if (actions.length) {
    const person = encode(fields, raw);
    return actions.map((_, block) => actions.flatMap((_, i) => (i === block ? person : person.map(() => 0))));
  }
  const fits = Array.isArray(raw) && raw.length && raw.length <= candidates;
  must(fits, BadInput, `1 to ${candidates} candidates`, raw);
  return raw.map((one) => encode(fields, one));
}

/** One feature vector of length at most 1. */
export function encode(fields: Fields, raw: unknown): Vector {
  const names = namesOf(fields);
  const given = namesOf(Object(raw));
  must(`${names}` === `${given}`, BadInput, `the fields ${names}`, given);
  const parts = names.map((name) => coordinates(name, fields[name]!, (raw as RawFields)[name]));
  return [1, ...parts.flat()].map((x) => x / Math.sqrt(1 + names.length));
}

function coordinates(name: string, field: Field, value: unknown): Vector {
  if (value === null) return field.kind === "category" ? field.values.map(() => 0) : [0];
  if (field.kind === "flag" && typeof value === "boolean") return [value ? 1 : -1];
  if (field.kind === "category" && typeof value === "string") return field.values.map((one) => +(one === value));
  if (field.kind === "number" && Number.isFinite(value)) {
    const { low, high, middle } = field;
    const number = clip(value as number, low, high);
    if (middle === null) return [(2 * (number - low)) / (high - low) - 1];
    return [(number - middle) / (number < middle ? middle - low : high - middle)];
  }
  must(false, BadInput, `a ${field.kind} or null as ${name}`, value);
}

/** In the order of Python and of UTF-8; that of JavaScript differs where a sign takes two units. */
function namesOf(fields: object): string[] {
  const key = (name: string) => toHex(new TextEncoder().encode(name));
  return Object.keys(fields).sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
