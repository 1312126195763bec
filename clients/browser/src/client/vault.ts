/**
 * One IndexedDB database for all tasks of one owner: contracts, offers, decisions, the ledger and the outbox. All that
 * is kept is kept here, and every step is a transaction over all of it, so several tabs see one state.
 *
 * A transaction that has ended survives the death of the page. A strict one survives the loss of power too, and with it
 * all that came before. One strict transaction per report is enough: the one in which it is drawn and kept.
 */

import type { Spent } from "../privacy/spent.js";
import type { Action } from "../users/index.js";
import type { Answered } from "./answers.js";

/** A task that was joined. All times are seconds since 1970, and all tabs go by the same. */
export interface Joined {
  /** The server and the task. */
  readonly joined: string;
  /** The bytes that were pinned. */
  readonly contract: Uint8Array;
  readonly mode: "live" | "apprentice";
  readonly open: boolean;
  readonly optedOut: boolean;
  /** Has the server shown another contract? Then nothing is promised any more. */
  readonly changed: boolean;
  /** Of a task that knows enough. */
  readonly recommendation?: Action;
  /** The version of the newest model; empty before the first. */
  readonly newest: string;
  /** When the status must be asked for again. */
  readonly askAgain: number;
  /** When the next permit is fetched, if one is missing: -1 before the first, 0 while none is missing. */
  readonly nextPermit: number;
  /** How often the server did not answer in a row, and until when it is left alone. */
  readonly failures: number;
  readonly until: number;
}

/** A model that an open decision needs, or the newest. */
export interface Kept {
  readonly joined: string;
  readonly version: string;
  readonly body: Uint8Array;
}

/** A permit or ticket that was not used yet. */
export interface Held {
  id?: number;
  readonly joined: string;
  readonly permit: string;
  readonly nonce: string;
  readonly coin: Uint8Array;
  readonly expires: number;
  /** Of a ticket. */
  readonly action?: Action;
  /** The tab that fetched it, and uses it where a tab needs its own. */
  readonly tab: string;
}

/** A decision whose report was promised. Raw data is kept here until its one report is drawn. */
export interface Pending extends Answered {
  readonly id: string;
  readonly joined: string;
  /** In the ledger. */
  readonly entry: number;
  readonly at: number;
}

/** What one report cost and what became of it. Rows are added, never taken back. */
export interface Entry {
  readonly id?: number;
  readonly joined: string;
  readonly epsilon: number;
  readonly delta: number;
  readonly cost: Spent;
  readonly hour: number;
  readonly fate: string;
}

/** One report as it will leave, and when it is due. */
export interface Outgoing {
  id?: number;
  readonly joined: string;
  readonly entry: number;
  /** JSON: these bytes and no others are sent. */
  readonly report: string;
  readonly due: number;
}

interface Rows {
  tasks: Joined;
  models: Kept;
  permits: Held;
  decisions: Pending;
  ledger: Entry;
  outbox: Outgoing;
}

const KEYS: Record<keyof Rows, string | string[]> = {
  tasks: "joined",
  models: ["joined", "version"],
  permits: "id",
  decisions: "id",
  ledger: "id",
  outbox: "id",
};
const FORMAT = 1;

/** The tables in one transaction. */
export interface Tables {
  get<T extends keyof Rows>(table: T, key: IDBValidKey): Promise<Rows[T] | undefined>;
  /** The rows of this task. */
  of<T extends keyof Rows>(table: T): Promise<Rows[T][]>;
  /** The rows of all tasks with larger keys. */
  after<T extends keyof Rows>(table: T, key: number): Promise<Rows[T][]>;
  /** Its key. */
  put<T extends keyof Rows>(table: T, row: Rows[T]): Promise<number>;
  remove(table: keyof Rows, key: IDBValidKey): Promise<undefined>;
}

export interface Vault {
  /** All of it or nothing. `work` may wait for nothing but its tables. */
  transact<T>(work: (tables: Tables) => Promise<T>, durability?: "strict"): Promise<T>;
  close(): void;
}

function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Raises where the browser gives no storage. */
export async function openVault(name: string, joined: string): Promise<Vault> {
  const request = indexedDB.open(name, FORMAT);
  request.onupgradeneeded = () => {
    for (const [table, keyPath] of Object.entries(KEYS)) {
      request.result.createObjectStore(table, { keyPath, autoIncrement: keyPath === "id" }).createIndex("of", "joined");
    }
  };
  const database = await answered(request);
  database.onversionchange = () => database.close(); // somebody deletes it, or a newer version of this file needs it
  return {
    close: () => database.close(),
    async transact(work, durability = "relaxed" as never) {
      const transaction = database.transaction(Object.keys(KEYS), "readwrite", { durability });
      const store = (table: string) => transaction.objectStore(table);
      const ended = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      const tables: Tables = {
        get: (table, key) => answered(store(table).get(key)),
        of: (table) => answered(store(table).index("of").getAll(joined)),
        after: (table, key) => answered(store(table).getAll(IDBKeyRange.lowerBound(key, true))),
        put: (table, row) => answered(store(table).put(row)) as Promise<number>,
        remove: (table, key) => answered(store(table).delete(key)),
      };
      const worked = work(tables).catch((error) => {
        transaction.abort();
        throw error;
      });
      return (await Promise.all([worked, ended]))[0];
    },
  };
}

// --- steps that are made of these ------------------------------------------------------------------------------------

/** What became of a report. */
export async function settle(tables: Tables, entry: number, fate: string): Promise<void> {
  await tables.put("ledger", { ...(await tables.get("ledger", entry))!, fate });
}

/** Permits or tickets that are valid until then, the oldest first; the others are thrown away: nothing was drawn. */
export async function valid(tables: Tables, until: number): Promise<Held[]> {
  const held = await tables.of("permits");
  for (const one of held) if (one.expires <= until) await tables.remove("permits", one.id!);
  return held.filter((one) => one.expires > until);
}

/** Forget everything that was promised and has not left. */
export async function withdraw(tables: Tables, fate: string): Promise<void> {
  for (const table of ["decisions", "outbox"] as const) {
    for (const { id, entry } of await tables.of(table)) {
      await settle(tables, entry, fate);
      await tables.remove(table, id!);
    }
  }
}
