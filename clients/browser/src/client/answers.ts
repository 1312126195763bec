/**
 * What a device tells its app, and how what the app tells it becomes the message that is made private.
 *
 * There always is a message: sending nothing would tell something. Bad fields become features of zeros and a bad reward
 * becomes the default, so that a report leaves all the same.
 */

import { size, type Vector } from "../privacy/domains/index.js";
import { toText } from "../protocol/codec.js";
import { dimensionOf, toUnit, type ByModel, type Contract, type RewardTerms } from "../protocol/contract.js";
import { BadInput, ConfigurationError } from "../protocol/errors.js";
import type { Model } from "../protocol/offers.js";
import type { Report } from "../protocol/wire.js";
import { features } from "../users/fields.js";
import type { Action } from "../users/index.js";
import type { Terms } from "./terms.js";

/** No reward came in time. */
export const NOT_OBSERVED = Symbol();

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

/** What is kept of a decision until its reward is there; `raw` is the chosen row of features, or the action. */
export interface Answered {
  readonly gate: number;
  readonly permit: string;
  readonly nonce: string;
  readonly version: string;
  readonly raw: unknown;
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

/** The app's own choice among so many actions, by its number or its name. */
export function baselineOf(offers: ByModel, baseline: number | string, number: number): number {
  const index = typeof baseline === "string" ? offers.actions.indexOf(baseline) : baseline;
  if (Number.isInteger(index) && 0 <= index && index < number) return index;
  throw new ConfigurationError(`the baseline must be one of ${number} actions, got ${baseline}`);
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

/** What is made private, and what to count. */
export function messageOf(
  terms: Terms,
  models: Record<string, Model> | Map<string, Model>,
  pending: Answered,
  reward: unknown,
): [message: Vector, notes: string[]] {
  const { contract, user, mechanism } = terms;
  const { offers } = contract;
  const points = offers.kind === "tickets" && offers.slopes ? (pending.raw as unknown[]).length : 0;
  const [given, notes] = observed(contract.reward, reward, points);
  const unit = Array.isArray(given) ? given.map((one) => toUnit(contract.reward, one)) : toUnit(contract.reward, given);
  try {
    if (offers.kind === "tickets") return [user.message(pending.raw as Action, [], pending.raw as Action, unit), notes];
    const model = models instanceof Map ? models.get(pending.version) : models[pending.version];
    if (!model) throw new BadInput("another tab has thrown the model away");
    return [user.message(model, [pending.raw as Vector], 0, unit), notes];
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    return [Array<number>(size(mechanism.domain)).fill(0), [...notes, "bad_input"]];
  }
}

/** The reward as a number, or one per point where several were tried; or the default; and what to count. */
export function observed(terms: RewardTerms, reward: unknown, points = 0): [reward: number | Vector, notes: string[]] {
  const given = [reward].flat().map((one) => (typeof one === "boolean" ? +one : one)) as Vector;
  if (Array.isArray(reward) !== points > 0 || given.length !== (points || 1) || !given.every(Number.isFinite)) {
    const rewards = Array<number>(points || 1).fill(terms.default);
    return [points ? rewards : terms.default, [reward === NOT_OBSERVED ? "unobserved" : "bad_input"]];
  }
  const outside = given.some((one) => one < terms.low || one > terms.high);
  return [points ? given : given[0]!, outside ? ["clipped"] : []];
}

/** The report as it will travel: the same length for every report of this task. */
export function documentOf(contract: Contract, pending: Answered, payload: Uint8Array): Report {
  const { permit, nonce, version, gate } = pending;
  const drawn = { gate, payload: toText(payload) };
  return contract.offers.kind === "model" ? { permit, nonce, version, ...drawn } : { ticket: permit, nonce, ...drawn };
}
