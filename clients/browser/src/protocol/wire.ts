/**
 * What travels over HTTP, as strict data. Every report of a task has the same length, whatever the person did. Each
 * brings back a permit and reveals its nonce. A report to a task with a model names no action, no person and no time.
 */

import { anything, decodable, flag, maybe, text, whole, word, type Read } from "./strict.js";

/** The header with a token of the app, where a task wants one. */
export const ADMISSION = "Sottovoce-Admission";
/** Tickets or permits in one request. */
export const LARGEST_OFFERS = 100;

/** What may change while a task lives. */
export const taskStatus = {
  id: text,
  digest: text,
  mode: word("live", "apprentice"),
  state: word("open", "paused", "expired", "done"),
  version: text,
};

/** Tickets; or none and the recommendation, once the task knows enough. */
export const offers = {
  offers: [{ ticket: text, action: anything, expires: whole }] as const,
  done: maybe(flag, false),
  recommendation: maybe(anything, null),
};

/** One verdict per report, in order. */
const verdicts = { verdicts: [text] as const };

/** The verdict on the one report that was sent; empty if it is none. */
export function verdictFrom(body: Uint8Array): string {
  const [verdict = "", ...more] = decodable(body, verdicts)?.verdicts ?? [];
  return more.length ? "" : verdict;
}

export type TaskStatus = Read<typeof taskStatus>;
export type Offers = Read<typeof offers>;

/** What a report brings back: `permit` and `version` with a model, `ticket` where the server chose the action. */
export type Returned = { nonce: string } & ({ permit: string; version: string } | { ticket: string });
/** A report as it travels. */
export type Report = Returned & { gate: number; payload: string };

/** The bytes of a request for as many tickets or permits. */
export function commitmentsBody(commitments: string[]): string {
  return JSON.stringify({ commitments });
}
