/**
 * Raw fields become a vector in the unit ball.
 *
 * A number is mapped to [-1, 1], a flag to -1 or 1, a category to one coordinate per value, and a constant 1 comes first.
 * Each of these has length at most 1, so the whole divided by sqrt(1 + fields) has length at most 1. Fields are taken in
 * the order of their names.
 *
 * Where the actions have names the fields describe the person: action a has the person's vector in block a and zeros
 * elsewhere. Where there are candidates each brings its own fields.
 */

import { clip, type Vector } from "../privacy/domains/base.js";
import type { ByModel } from "../protocol/contract.js";
import { BadInput } from "../protocol/errors.js";
import type { Field, Fields } from "../protocol/fields.js";

/** What an app knows, by the names of the fields. */
export type RawFields = Record<string, number | boolean | string>;

/** One row of features per action, from the person's fields or from each candidate's. */
export function features(offers: ByModel, raw: unknown): Vector[] {
  if (offers.actions.length) {
    if (!isMapping(raw)) throw new BadInput("this task's fields describe the person: give one object of fields");
    const person = encode(offers.fields, raw);
    const nothing = person.map(() => 0);
    return offers.actions.map((_, block) => offers.actions.flatMap((_, i) => (i === block ? person : nothing)));
  }
  if (!Array.isArray(raw) || !raw.length || !raw.every(isMapping)) {
    throw new BadInput("this task's fields describe candidates: give a list with one object of fields per candidate");
  }
  if (raw.length > offers.candidates) {
    throw new BadInput(`this task allows ${offers.candidates} candidates at once, got ${raw.length}`);
  }
  return raw.map((one) => encode(offers.fields, one));
}

/** One feature vector of length at most 1. */
export function encode(fields: Fields, raw: Record<string, unknown>): Vector {
  const names = Object.keys(fields).sort(byCodePoint);
  const unknown = Object.keys(raw).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) throw new BadInput(`unknown field "${unknown}"; this task has: ${names.join(", ")}`);
  const missing = names.find((name) => !Object.hasOwn(raw, name));
  if (missing !== undefined) throw new BadInput(`field "${missing}" is missing; this task needs: ${names.join(", ")}`);
  const whole = [1, ...names.flatMap((name) => coordinates(name, fields[name]!, raw[name]))];
  return whole.map((x) => x / Math.sqrt(1 + names.length));
}

function coordinates(name: string, field: Field, value: unknown): Vector {
  if (field.kind === "flag" && typeof value === "boolean") return [value ? 1 : -1];
  if (field.kind === "category" && typeof value === "string") return field.values.map((one) => +(one === value));
  if (field.kind === "number" && Number.isFinite(value)) {
    const { low, high } = field;
    return [(2 * (clip(value as number, low, high) - low)) / (high - low) - 1];
  }
  const wanted = { number: "a finite number", category: "a word", flag: "true or false" }[field.kind];
  throw new BadInput(`field "${name}" must be ${wanted}, got ${value}`);
}

function isMapping(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw);
}

/** The order of Python and of UTF-8; that of JavaScript differs where a sign takes two units. */
export function byCodePoint(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; ; i++) {
    const [p, q] = [x[i]?.codePointAt(0) ?? -1, y[i]?.codePointAt(0) ?? -1];
    if (p !== q || p < 0) return p - q;
  }
}
