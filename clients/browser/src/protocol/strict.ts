/**
 * Data from elsewhere is decoded strictly: what is not declared is refused. A reader turns JSON into a declared type,
 * or raises `WireError` with the place where it does not fit.
 */

import { DECIMAL } from "./codec.js";
import { WireError } from "./errors.js";

export type Reader<T> = (value: unknown, at: string) => T;
export type Read<R> = R extends Reader<infer T> ? T : never;
type Named = Record<string, unknown>;

function refuse(at: string, wanted: string): never {
  throw new WireError(`${at} must be ${wanted}`);
}

export const anything: Reader<unknown> = (value, at) => (value === undefined ? refuse(at, "there") : value);

export const text: Reader<string> = (value, at) => (typeof value === "string" ? value : refuse(at, "text"));

export const flag: Reader<boolean> = (value, at) => (typeof value === "boolean" ? value : refuse(at, "true or false"));

/** An integer that no language rounds. A decimal string is none. */
export const whole: Reader<number> = (value, at) =>
  Number.isSafeInteger(value) ? (value as number) : refuse(at, "a whole number");

/** A finite number, also as a decimal string. */
export const real: Reader<number> = (value, at) => {
  const number = typeof value === "string" && DECIMAL.test(value) ? Number(value) : value;
  return Number.isFinite(number) ? (number as number) : refuse(at, "a finite number");
};

/** One of these words. */
export function word<W extends string>(...words: W[]): Reader<W> {
  return (value, at) => (words.includes(value as W) ? (value as W) : refuse(at, words.join(" or ")));
}

/** What may be left out. */
export function maybe<T>(reader: Reader<T>, missing: NoInfer<T>): Reader<T> {
  return (value, at) => (value === undefined ? missing : reader(value, at));
}

export function list<T>(reader: Reader<T>): Reader<T[]> {
  return (value, at) =>
    Array.isArray(value) ? value.map((one, i) => reader(one, `${at}[${i}]`)) : refuse(at, "a list");
}

/** Finite numbers of this shape: one number, a vector, rows. */
export function array<T>(...shape: number[]): Reader<T> {
  const [length, ...rest] = shape;
  if (length === undefined) {
    return ((value, at) => (Number.isFinite(value) ? value : refuse(at, "a finite number"))) as Reader<T>;
  }
  const row = array(...rest);
  return ((value, at) => {
    const rows = list(row)(value, at);
    return rows.length === length ? rows : refuse(at, `of length ${length}`);
  }) as Reader<T>;
}

/** Any names, with values of one type. */
export function dictionary<T>(reader: Reader<T>): Reader<Record<string, T>> {
  return (value, at) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(at, "an object");
    return Object.fromEntries(
      Object.entries(value as Named).map(([name, one]) => [name, reader(one, `${at}.${name}`)]),
    );
  };
}

/** These names and no others. */
export function shape<S extends Record<string, Reader<unknown>>>(fields: S): Reader<{ [K in keyof S]: Read<S[K]> }> {
  return (value, at) => {
    const given = dictionary(anything)(value, at);
    for (const name of Object.keys(given)) if (!Object.hasOwn(fields, name)) refuse(`${at}.${name}`, "left out");
    const read = Object.entries(fields).map(([name, reader]) => [name, reader(given[name], `${at}.${name}`)]);
    return Object.fromEntries(read) as { [K in keyof S]: Read<S[K]> };
  };
}

/** One of several shapes, told apart by their `kind`. */
export function kinds<S extends Record<string, Reader<unknown>>>(shapes: S): Reader<Read<S[keyof S]>> {
  return (value, at) => {
    const kind = word(...Object.keys(shapes))((value as Named | null)?.["kind"], `${at}.kind`);
    return shapes[kind]!(value, at) as Read<S[keyof S]>;
  };
}

/** JSON as this type; `name` is what it should be, as in "a contract". */
export function decoded<T>(body: Uint8Array, reader: Reader<T>, name: string): T {
  try {
    return reader(JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body)), "it");
  } catch (error) {
    throw new WireError(`not ${name}: ${(error as Error).message}`);
  }
}
