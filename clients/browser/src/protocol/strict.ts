/**
 * Data from elsewhere is decoded strictly: what is not declared is refused.
 *
 * A schema is a reader, a function that gives back the value or raises `WireError` with the place where it does not fit;
 * `[schema]`, a list; or an object of schemas: these names and no others.
 */

import { DECIMAL } from "./codec.js";
import { WireError } from "./errors.js";

export type Reader<T> = (value: unknown, at: string) => T;
export type Schema = Reader<unknown> | readonly [Schema] | { readonly [name: string]: Schema };
export type Read<S> =
  S extends Reader<infer T>
    ? T
    : S extends readonly [infer One]
      ? Read<One>[]
      : { -readonly [Name in keyof S]: Read<S[Name]> };

export function refuse(at: string, wanted: string): never {
  throw new WireError(`${at} must be ${wanted}`);
}

/** The value as its schema declares it. */
export function read<S extends Schema>(schema: S, value: unknown, at: string): Read<S>;
export function read(schema: Schema, value: unknown, at: string): unknown {
  if (typeof schema === "function") return schema(value, at);
  if (Array.isArray(schema)) {
    return Array.isArray(value) ? value.map((one) => read(schema[0], one, at)) : refuse(at, "a list");
  }
  const given = named(anything)(value, at);
  for (const name in given) if (!Object.hasOwn(schema, name)) refuse(`${at}.${name}`, "left out");
  return named((reader, here) => read(reader as Schema, given[here.slice(at.length + 1)], here))(schema, at);
}

/** Any names, with values of one schema. */
export function named<S extends Schema>(schema: S): Reader<Record<string, Read<S>>> {
  return (value, at) => {
    if (typeof value !== "object" || !value || Array.isArray(value)) refuse(at, "an object");
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, read(schema, one, `${at}.${name}`)]));
  };
}

/** What may be left out. */
export function maybe<S extends Schema>(schema: S, missing: Read<S>): Reader<Read<S>> {
  return (value, at) => (value === undefined ? missing : read(schema, value, at));
}

export const anything: Reader<unknown> = (value, at) => (value === undefined ? refuse(at, "there") : value);

export const text: Reader<string> = (value, at) => (typeof value === "string" ? value : refuse(at, "text"));

export const flag: Reader<boolean> = (value, at) => (typeof value === "boolean" ? value : refuse(at, "true or false"));

/** An integer that no language rounds. A decimal string is none. */
export const whole: Reader<number> = (value, at) =>
  Number.isSafeInteger(value) ? (value as number) : refuse(at, "a whole number");

/** A finite number, also as a decimal string. */
export const real: Reader<number> = (value, at) => {
  const number = typeof value === "string" && DECIMAL.test(value) ? +value : value;
  return Number.isFinite(number) ? (number as number) : refuse(at, "a finite number");
};

/** One of these words. */
export function word<W extends string>(...words: W[]): Reader<W> {
  return (value, at) => (words.includes(value as W) ? (value as W) : refuse(at, words.join(" or ")));
}

/** Finite numbers of this shape: one number, a vector, rows. */
export function array<T>(...[length, ...rest]: number[]): Reader<T> {
  return ((value, at) => {
    if (length === undefined) return Number.isFinite(value) ? value : refuse(at, "a finite number");
    const rows = read([array(...rest)], value, at);
    return rows.length === length ? rows : refuse(at, `of length ${length}`);
  }) as Reader<T>;
}

/** JSON as this schema; `name` is what it should be, as in "a contract". */
export function decoded<S extends Schema>(body: Uint8Array, schema: S, name: string): Read<S> {
  try {
    return read(schema, JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body)), "it");
  } catch (error) {
    throw new WireError(`not ${name}: ${(error as Error).message}`);
  }
}
