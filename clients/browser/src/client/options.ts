/** What an app gives a device, and what it gets from it. */

import type { Entropy } from "../privacy/entropy.js";
import type { Report } from "../protocol/wire.js";
import type { RawFields } from "../users/fields.js";
import type { Decision } from "./answers.js";
import type { Admission } from "./core.js";
import type { Limits } from "./ledger.js";

/** The fields of the person, or one object of fields for each candidate; nothing where the task has tickets. */
export type Given = RawFields | RawFields[] | undefined;

export interface Options {
  /** What the owner allows, whatever the task asks for. */
  limits?: Partial<Limits>;
  /** Ask for a quieter gate of the contract. */
  epsilon?: number;
  /** Raise `BadInput` for fields that the task does not have, instead of choosing at random. */
  strict?: boolean;
  /** Gets a token from the app's own server, where the task wants one. */
  admission?: Admission;
  /** The name of the database, "sottovoce" when left out. Where several people share a browser: one name for each. */
  storage?: string;
  fetch?: typeof fetch;
  /** Seconds since 1970. */
  now?: () => number;
  /** For tests only. */
  entropy?: Entropy;
}

/** A choice that was made without waiting; a moment later it is known whether there will be a report. */
export interface Choice extends Omit<Decision, "reported"> {
  readonly recorded: Promise<Decision>;
}

export interface Chosen {
  /** While the task is an apprentice: the app's own choice, by its number or its name. The first when left out. */
  baseline?: number | string;
}

/** One report as it will leave, what it cost, and when it is due (seconds since 1970). */
export interface Waiting {
  readonly report: Report;
  readonly epsilon: number;
  readonly delta: number;
  readonly due: number;
}

/** What became of the reports that were due, and how many are left in the outbox. */
export interface Sent {
  readonly acknowledged: number;
  readonly refused: number;
  readonly waiting: number;
}
