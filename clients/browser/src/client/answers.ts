/**
 * What a device tells its app, and how what the app tells it becomes the message that is made private.
 *
 * There always is a message: sending nothing would tell something. Bad fields become features of zeros and a bad reward
 * becomes the default, so that a report leaves all the same.
 */

import type { Vector } from "../privacy/domains/index.js";
import { toText } from "../protocol/codec.js";
import { dimensionOf, toUnit, type ByModel, type Contract, type RewardTerms } from "../protocol/contract.js";
import { BadInput, ConfigurationError, must } from "../protocol/errors.js";
import type { Model } from "../protocol/offers.js";
import type { Report } from "../protocol/wire.js";
import { features } from "../users/fields.js";
import type { Action } from "../users/index.js";
import { measuredBy, type Terms } from "./terms.js";

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

/** Features, one row per action; for bad input rows of zeros, which say nothing, and what was wrong. */
export function contextOf(offers: ByModel, raw: unknown): [context: Vector[], problem: string] {
  try {
    return [features(offers, raw), ""];
  } catch (error) {
    const given = Array.isArray(raw) ? raw.length : 1;
    const rows = offers.actions.length || Math.max(1, Math.min(given, offers.candidates));
    const zeros = Array.from({ length: rows }, () => Array<number>(dimensionOf(offers)).fill(0));
    return [zeros, error instanceof BadInput ? error.message : "not fields"];
  }
}

/** The rows of features that the message will need, the chosen one first; a contrast is one with all the others. */
export function keptOf(model: Model, context: Vector[], action: number): Vector[] {
  const contrast = "contrast" in model && model.contrast > 0;
  return [context[action]!, ...context.filter((_, i) => contrast && i !== action)];
}

/** The app's own choice among so many actions, by its number or its name. */
export function baselineOf(offers: ByModel, baseline: number | string, number: number): number {
  const index = typeof baseline === "string" ? offers.actions.indexOf(baseline) : baseline;
  const fits = Number.isInteger(index) && 0 <= index && index < number;
  must(fits, ConfigurationError, `one of ${number} actions as the baseline`, baseline);
  return index;
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

/** What is made private. `model` is the one that was chosen by, unless it was thrown away meanwhile. */
export function messageOf(terms: Terms, model: Model | undefined, answered: Answered, reward: unknown): Vector {
  const { user } = terms;
  const { raw } = answered;
  const { offers, reward: rewardTerms } = terms.contract;
  const points = offers.kind === "tickets" && offers.slopes ? (raw as Vector[]).length : 0;
  const units = observed(rewardTerms, reward, points).map((one) => toUnit(rewardTerms, one));
  const unit = points ? units : units[0]!;
  const measured = measuredBy(terms, answered);
  if (measured) return measured.mechanisms[answered.gate]!.domain.embed(unit);
  try {
    if (offers.kind === "tickets") return user.message(raw, [], raw, unit);
    if (model) return user.message(model, raw as Vector[], 0, unit);
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
  }
  return Array<number>(terms.mechanism.domain.size).fill(0);
}

/** The reward, or one per point where several were tried; the default where it is no number. */
function observed(terms: RewardTerms, reward: unknown, points: number): Vector {
  const given = points ? reward : [reward];
  const numbers = Array.isArray(given) ? Array.from(given, (one) => (typeof one === "boolean" ? +one : one)) : [];
  return numbers.length === (points || 1) && numbers.every(Number.isFinite)
    ? numbers
    : Array<number>(points || 1).fill(terms.default);
}

/** The report as it will travel: the same length for every report of this task. */
export function documentOf(contract: Contract, pending: Answered, payload: Uint8Array): Report {
  const { permit, nonce, version, gate } = pending;
  const drawn = { gate, payload: toText(payload) };
  return contract.offers.kind === "model" ? { permit, nonce, version, ...drawn } : { ticket: permit, nonce, ...drawn };
}
