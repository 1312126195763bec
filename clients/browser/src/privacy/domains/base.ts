/** What every domain has, and what domains share. A domain decides the sensitivity: it clips what it is given. */

import { BadInput, must } from "../../protocol/errors.js";

export type Vector = number[];

/** How far float arithmetic may carry a message out of its domain; calibration leaves more room than that. */
export const ROUNDING = 1e-9;

/** The set of messages a person may send. `delta.js` knows more of it: how far apart two messages can be. */
export interface Domain {
  readonly kind: string;
  /** The numbers that describe it. */
  readonly numbers: readonly number[];
  /** The length of a message. */
  readonly size: number;
  /** Its largest Euclidean norm. */
  readonly radius: number;
  /** The message that is formed from the raw pieces, which are clipped; `BadInput` where they are not finite numbers. */
  embed(...raw: (number | Vector)[]): Vector;
}

/** What a kind of domain makes of its numbers: size, radius and `embed`. */
export type Shape = [size: number, radius: number, embed: Domain["embed"]];

export function clip(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}

export function dot(a: Vector, b: Vector): number {
  return a.reduce((sum, x, i) => sum + x * b[i]!, 0);
}

export function norm(vector: Vector): number {
  return Math.sqrt(dot(vector, vector));
}

/** A finite number. Beyond 1e150 squares overflow; such a vector is cut to the ball whatever its direction. */
export function number(raw: unknown): number {
  must(Number.isFinite(raw), BadInput, "a finite number", raw);
  return clip(raw as number, -1e150, 1e150);
}
