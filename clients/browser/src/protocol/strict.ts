/**
 * Data from elsewhere is decoded strictly: what is not declared is refused.
 *
 * A schema is a reader, a function that gives back the value or raises `WireError` with the place where it does not fit;
 * `[schema]`, a list; or an object of schemas: these names and no others.
 */

import { DECIMAL } from "./codec.js";
import { must, WireError } from "./errors.js";

export type Reader<T> = (value: unknown, at: string) => T;
export type Schema = Reader<unknown> | readonly [Schema] | { readonly [name: string]: Schema };
export type Read<S> =
  S extends Reader<infer T>
    ? T
    : S extends readonly [infer One]
      ? Read<One>[]
      : { -readonly [Name in keyof S]: Read<S[Name]> };

/** The value as its schema declares it. */
export function read<S extends Schema>(schema: S, value: unknown, at: string): Read<S>;
export function read(schema: Schema, value: unknown, at: string): unknown {
  if (typeof schema === "function") return schema(value, at);
  if (Array.isArray(schema)) return list(value, at).map((one) => read(schema[0], one, at));
  const given = named(anything)(value, at);
  const found = each(schema as object, (one: Schema, name) => read(one, given[name], `${at}.${name}`));
  for (const name in given) must(Object.hasOwn(schema, name), WireError, `no ${at}.${name}`, given[name]);
  return found;
}

/** Any names, with values of one schema. */
export function named<S extends Schema>(schema: S): Reader<Record<string, Read<S>>> {
  return (value, at) => each(object(value, at), (one, name) => read(schema, one, `${at}.${name}`));
}

function each<One, Other>(given: Record<string, One> | object, change: (one: One, name: string) => Other) {
  return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, change(one, name)]));
}

/** What may be left out. */
export function maybe<S extends Schema>(schema: S, missing: Read<S>): Reader<Read<S>> {
  return (value, at) => (value === undefined ? missing : read(schema, value, at));
}

function reader<T>(wanted: string, fits: (value: unknown) => unknown): Reader<T> {
  return (value, at) => {
    must(fits(value), WireError, `${wanted} as ${at}`, value);
    return value as T;
  };
}

/** What is read must fit together. */
export function checked<S extends Schema>(
  schema: S,
  wanted: string,
  fits: (found: Read<S>) => unknown,
): Reader<Read<S>> {
  return (value, at) => {
    const found = read(schema, value, at);
    must(fits(found), WireError, `${wanted} as ${at}`, JSON.stringify(value));
    return found;
  };
}

const list = reader<unknown[]>("a list", Array.isArray);
const object = reader<object>("an object", (value) => typeof value === "object" && value && !Array.isArray(value));
export const finite = reader<number>("a finite number", Number.isFinite);

export const anything = reader<unknown>("something", (value) => value !== undefined);
export const text = reader<string>("text", (value) => typeof value === "string");
export const flag = reader<boolean>("true or false", (value) => typeof value === "boolean");

/** An integer that no language rounds. A decimal string is none. */
export const whole = reader<number>("a whole number", Number.isSafeInteger);

/** A finite number, also as a decimal string. */
export const real: Reader<number> = (value, at) =>
  finite(typeof value === "string" && DECIMAL.test(value) ? +value : value, at);

/** One of these words or numbers. */
export function word<W extends string | number>(...words: W[]): Reader<W> {
  return reader(words.join(" or "), (value) => words.includes(value as W));
}

/** JSON as this schema; nothing where it is something else. */
export function decodable<S extends Schema>(body: Uint8Array, schema: S): Read<S> | undefined {
  try {
    return decoded(body, schema, "");
  } catch {
    return undefined;
  }
}

/** JSON as this schema; `name` is what it should be, as in "a contract". */
export function decoded<S extends Schema>(body: Uint8Array, schema: S, name: string): Read<S> {
  try {
    return read(schema, JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body)), "it");
  } catch (error) {
    const { message, cause } = error as Error;
    throw new WireError(`not ${name}: ${message}`, { cause });
  }
}
