/** What one tab knows of its task. Where there is storage, `row` is a copy of what all tabs share. */

import type { Entropy } from "../privacy/entropy.js";
import type { Model } from "../protocol/offers.js";
import type { Action } from "../users/index.js";
import type { Ask } from "./http.js";
import type { Shared } from "./joining.js";
import type { Account } from "./ledger.js";
import type { Terms } from "./terms.js";
import type { Held, Joined, Step } from "./vault.js";

/** Asks the app for an admission token for so many tickets or permits. */
export type Admission = (number: number) => string | Promise<string>;

/** What a message is formed by. */
export interface Known extends Terms {
  row: Pick<Joined, "models">;
  /** The model that was read last, and its version. */
  model?: Model;
  version?: string;
}

export interface Core extends Known {
  readonly account: Account;
  readonly ask: Ask;
  readonly entropy: Entropy;
  readonly admission: Admission | undefined;
  /** Raise for bad fields? */
  readonly strict: boolean | undefined;
  /** Seconds since 1970. */
  readonly now: () => number;
  /** Without it nothing is reported. */
  readonly vault: Shared | undefined;
  /** Called with what was known before. */
  readonly changed: (before: Joined) => void;
  row: Joined;
  /** Tickets of this tab; in a task with a holdout, permits of this tab. */
  own: Held[];
  /** The action of the last one. */
  lastOffer?: Action;
  /** How many permits or tickets to keep ready. */
  wanted: number;
}

/** The version of the newest model; empty before the first. */
export function newest({ models }: Pick<Joined, "models">): string {
  return models.at(-1)?.version ?? "";
}

/** Take a step. Without storage it is taken in memory, where nothing is ever paid. */
export async function transact<T>(core: Core, step: Step<T>, durability?: "strict"): Promise<T> {
  const { vault } = core;
  let row = { ...core.row };
  const found = vault
    ? await vault.transact((kept, write) => step((row = kept), write), durability)
    : step(row, () => {});
  const before = core.row;
  core.row = row;
  core.changed(before);
  return found;
}

/** Change what is known, for all tabs; in the same transaction do what belongs to it, and have it on the disk. */
export async function set(core: Core, changes: Partial<Joined>, also?: Step<void>): Promise<void> {
  await transact(core, (row, write) => void (also?.(row, write), Object.assign(row, changes)), also && "strict");
  core.vault?.tell();
}

/** For developers; nothing depends on it. */
export function warn(problem: unknown): undefined {
  console.warn("sottovoce:", problem);
}
