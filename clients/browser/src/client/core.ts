/** What one tab knows of its task. Where there is storage, `row` is a copy of what all tabs share. */

import type { Entropy } from "../privacy/entropy.js";
import type { Model } from "../protocol/offers.js";
import type { Action } from "../users/index.js";
import type { Ask } from "./http.js";
import type { Shared } from "./joining.js";
import type { Account } from "./ledger.js";
import type { Terms } from "./terms.js";
import type { Held, Joined, Kept, Outgoing, Tables } from "./vault.js";

/** Asks the app for an admission token for so many tickets or permits. */
export type Admission = (number: number) => string | Promise<string>;

/** The newest model that this tab has read, and its bytes. */
export interface Known {
  model?: Model;
  kept?: Kept;
}

export interface Core extends Terms, Known {
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
  /** A copy of the outbox, for when the page is closed and there is no time to read it. */
  outgoing: Outgoing[];
  /** Tickets of this tab; in a task with a holdout, permits of this tab. */
  own: Held[];
  /** The action of the last one. */
  lastOffer?: Action;
  /** How many permits or tickets to keep ready. */
  wanted: number;
  /** The last entry of the ledger that was read. */
  last: number;
}

/** Change what is known, for all tabs; in the same transaction do what belongs to it, and have it on the disk. */
export async function set(
  core: Core,
  changes: Partial<Joined>,
  also?: (tables: Tables) => Promise<unknown>,
): Promise<void> {
  const { vault, row } = core;
  const changed = await vault?.transact(async (tables) => {
    await also?.(tables);
    const found = { ...(await tables.get("tasks", row.joined))!, ...changes };
    await tables.put("tasks", found);
    return found;
  }, also && "strict");
  see(core, changed ?? { ...row, ...changes });
  vault?.tell();
}

export function see(core: Core, row: Joined): void {
  const before = core.row;
  core.row = row;
  core.changed(before);
}

/** For developers; nothing depends on it. */
export function warn(problem: unknown): undefined {
  console.warn("sottovoce:", problem);
}
