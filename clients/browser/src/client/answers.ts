/**
 * What a device tells its app, and how what the app tells it becomes the message that is made private.
 *
 * There always is a message: sending nothing would tell something. Bad fields become features of zeros and a bad reward
 * becomes the default, so that a report leaves all the same.
 */

import type { Vector } from "../privacy/domains/index.js";
import { toText } from "../protocol/codec.js";
import { toUnit, type Contract } from "../protocol/contract.js";
import { BadInput } from "../protocol/errors.js";
import type { Report } from "../protocol/wire.js";
import type { Action } from "../users/index.js";
import type { Known } from "./core.js";
import type { Terms } from "./terms.js";

/** What to show, and under which id to tell how it went. */
export interface Decision {
  readonly id: string;
  /** The number of an action, a point, the points to try, or the numbers of the recommended arms. */
  readonly action: Action;
  readonly name: string;
  /** True if exactly one report will be sent; false if nothing will be. */
  readonly reported: boolean;
  /** For developers: what was wrong with the input, or why there was no offer. Never sent. */
  readonly problem: string;
}

/** What is kept of a decision until its reward is there; `raw` is what `keptOf` says, or the action of a ticket. */
export interface Answered {
  readonly gate: number;
  readonly permit: string;
  readonly nonce: string;
  /** The public randomness that permit and nonce make. */
  readonly coin: Uint8Array;
  readonly version: string;
  readonly raw: Vector[] | Action;
}

/** The name of an action, or of several; empty where actions have none. */
export function nameOf({ actions }: { actions: string[] }, action: Action): string {
  return actions.length
    ? [action]
        .flat(2)
        .map((number) => actions[number])
        .join(", ")
    : "";
}

/** What is made private. */
export function messageOf(core: Known, answered: Answered, reward: unknown): Vector {
  const zeros = Array<number>(core.mechanism.domain.size).fill(0);
  try {
    return core.offering.messageFor(core, answered, reward) ?? zeros;
  } catch (error) {
    if (error instanceof BadInput) return zeros;
    throw error;
  }
}

/** A reward on the scale of messages; the default where it is no number. */
export function unitOf({ reward: terms }: Contract, reward: unknown): number {
  const number = typeof reward === "boolean" ? +reward : reward;
  return toUnit(terms, Number.isFinite(number) ? (number as number) : terms.default);
}

/** The report as it will travel: the same length for every report of this task. */
export function documentOf({ offering }: Pick<Terms, "offering">, pending: Answered, payload: Uint8Array): Report {
  return { ...offering.naming(pending), gate: pending.gate, payload: toText(payload) };
}
