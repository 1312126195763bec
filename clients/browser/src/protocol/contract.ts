/**
 * The public contract of a live task: what a device judges before it answers. Its names are those of the document.
 *
 * A contract is bytes; its digest is the SHA-256 of these bytes. A device hashes `learning` and does not read it.
 */

import type { ByModel } from "./byModel.js";
import { toHex } from "./codec.js";
import { lookUp } from "./registry.js";
import { sha256 } from "./sha256.js";
import { anything, checked, decoded, flag, maybe, named, read, real, text, whole, word } from "./strict.js";
import type { Read, Reader, Schema } from "./strict.js";

/** Of the contract and of the wire. */
export const FORMAT = 3;
/** What an id of a task may be. */
export const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const DAY = 86400;

const numeral: Reader<number | string | string[]> = (value, at) =>
  Array.isArray(value) ? read([text], value, at) : typeof value === "string" ? value : whole(value, at);

const date = checked(text, "a day", (day) => new Date(day).toISOString().startsWith(`${day}T`));

const byTicket = {
  kind: word("tickets"),
  actions: maybe([text], []),
  dimension: maybe(whole, 0),
  slopes: maybe(flag, false),
};

/** Each kind of offers. `features.js` adds the one that it brings. */
export const OFFERS: Record<string, Schema> = { tickets: byTicket };

const offers: Reader<ByModel | ByTicket> = (value, at) => {
  const { kind } = named(anything)(value, at);
  return read(lookUp("kind of offers", `${kind}`, OFFERS), value, at) as ByModel | ByTicket;
};

/** Seconds. */
const duration = checked(whole, "less than a year", (seconds) => 0 <= seconds && seconds < 366 * DAY);
const rewardTerms = { low: real, high: real, default: real, wait: duration, unit_low: real, unit_high: real };
const limit = {
  lifetime: real,
  lifetime_delta: real,
  window: real,
  window_days: checked(whole, "at least a day", (days) => days >= 1),
};

const contract = {
  format: word(FORMAT), // read first, so that another one is refused by its number
  id: text,
  title: text,
  offers,
  domain: named(numeral),
  mechanism: text,
  gates: checked([{ epsilon: real, delta: real, numbers: named(numeral) }] as const, "a gate", (gates) => gates.length),
  limit,
  reward: checked(
    rewardTerms,
    "low <= default <= high",
    (terms) =>
      terms.low <= terms.default &&
      terms.default <= terms.high &&
      [terms.high - terms.low, terms.unit_high - terms.unit_low].every((length) => length > 0 && length < Infinity),
  ),
  delay: duration,
  expires: date,
  retention: whole,
  extensions: named(anything),
  learning: anything,
};

/** The server chooses for each person: an arm, a point, or points to try. The ticket says which. */
export type ByTicket = Read<typeof byTicket>;
export type RewardTerms = Read<typeof rewardTerms>;
/** What the task will ever ask of one device; the owner of the device may allow less. */
export type Limit = Read<typeof limit>;
/** The contract as it is read. The first gate is the task's budget; the others are quieter. */
export type Contract = Read<typeof contract>;

/** The contract that these bytes are. */
export function contractFrom(body: Uint8Array): Contract {
  return decoded(body, contract, "a contract");
}

/** The SHA-256 of a contract: other bytes are another contract. */
export async function digestOf(body: Uint8Array): Promise<string> {
  return toHex(await sha256(body));
}

/** Is the last day of this task over, in UTC? */
export function expired(contract: Contract, now: number): boolean {
  return new Date(now * 1000).toISOString().slice(0, 10) > contract.expires;
}

/** The reward, clipped to its declared range, on the scale of messages. */
export function toUnit(terms: RewardTerms, reward: number): number {
  const share = (Math.max(terms.low, Math.min(terms.high, reward)) - terms.low) / (terms.high - terms.low);
  return terms.unit_low + share * (terms.unit_high - terms.unit_low);
}
