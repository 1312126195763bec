/** What every domain has, and the checks that domains share. A domain decides the sensitivity: it clips what it is given. */

import { BadInput } from "../../protocol/errors.js";

export type Vector = number[];

/** How far float arithmetic may carry a message out of its domain; calibration leaves more room than that. */
export const ROUNDING = 1e-9;

/** The set of messages a person may send. */
export interface Domain {
  readonly kind: string;
  /** The lengths of the message's blocks. */
  readonly blocks: readonly number[];
  /** No message is longer. */
  readonly radius: number;
  /** The numbers that describe it. */
  readonly numbers: Readonly<Record<string, number>>;
  /** The message that is formed from the raw pieces, which are clipped. */
  embed(...raw: (number | Vector)[]): Vector;
  /** Whether `embed` could have formed this message. */
  contains(message: Vector): boolean;
}

/** The length of a message. */
export function size(domain: Domain): number {
  return domain.blocks.reduce((sum, block) => sum + block);
}

export function clip(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}

export function dot(a: Vector, b: Vector): number {
  return a.reduce((sum, x, i) => sum + x * b[i]!, 0);
}

export function length(vector: Vector): number {
  return Math.sqrt(dot(vector, vector));
}

export function times(vector: Vector, by: number): Vector {
  return vector.map((x) => x * by);
}

/** The vector itself, or the point of the ball in its direction. */
export function shorten(vector: Vector, bound: number): Vector {
  return times(vector, Math.min(1, bound / Math.max(length(vector), 1e-300)));
}

/** The direction of a vector: it has the length 1, or 0 where the vector is 0. */
export function unit(vector: Vector): Vector {
  const most = Math.max(...vector.map(Math.abs), 1e-300); // squares of short vectors would be zero
  const scaled = vector.map((x) => x / most);
  const long = Math.max(length(scaled), 1e-300);
  return scaled.map((x) => x / long);
}

/** A finite number. Beyond 1e150 squares overflow; such a vector is cut to the ball whatever its direction. */
export function admitNumber(raw: unknown): number {
  if (!Number.isFinite(raw)) throw new BadInput("a message is formed from finite numbers");
  return clip(raw as number, -1e150, 1e150);
}

/** A vector of so many finite numbers. */
export function admitVector(raw: unknown, dimension: number): Vector {
  if (!Array.isArray(raw) || raw.length !== dimension) throw new BadInput(`a vector of ${dimension} numbers is needed`);
  return raw.map(admitNumber);
}
