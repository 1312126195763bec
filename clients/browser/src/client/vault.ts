/**
 * One IndexedDB database for all tasks of one owner: of each task one record, and the ledger of all. A step is a function
 * that changes the record of its task, in a transaction of its own; so several tabs see one state, and a step is done
 * wholly or not at all.
 *
 * A transaction that has ended survives the death of the page. A strict one survives the loss of power too, and with it
 * all that came before. One strict transaction per report is enough: the one in which it is drawn and kept.
 */

import type { Spent } from "../privacy/spent.js";
import type { Action } from "../users/index.js";
import type { Answered } from "./answers.js";

/** What is kept of a task that was joined. All times are seconds since 1970, and all tabs go by the same. */
export interface Joined {
  /** The server and the task. */
  readonly joined: string;
  /** The bytes that were pinned. */
  contract: Uint8Array | undefined;
  mode: "live" | "apprentice";
  open: boolean;
  optedOut: boolean;
  /** Has the server shown another contract? Then nothing is promised any more. */
  changed: boolean;
  /** Of a task that knows enough. */
  recommendation?: Action;
  /** When the status must be asked for again. */
  askAgain: number;
  /** When the next permit is fetched, if one is missing; 0 while none is. The first is fetched at once. */
  nextPermit: number;
  /** How often the server did not answer in a row, and until when it is left alone. */
  failures: number;
  until: number;
  /** Those that open decisions need, and at the end the newest. */
  models: Kept[];
  /** Those that were not used yet, the oldest first. */
  permits: Held[];
  /** Those whose report was promised and is not drawn. */
  decisions: Pending[];
  /** What was drawn and has not left. */
  outbox: Outgoing[];
}

/** What is kept of a task as soon as there is a contract. */
export function newRow(joined: string): Joined {
  return {
    joined,
    contract: undefined,
    mode: "live",
    open: true,
    optedOut: false,
    changed: false,
    askAgain: 0,
    nextPermit: 1,
    failures: 0,
    until: 0,
    models: [],
    permits: [],
    decisions: [],
    outbox: [],
  };
}

const FORMAT = 1;

/** The bytes of a model. */
export interface Kept {
  readonly version: string;
  readonly body: Uint8Array;
}

/** A permit or ticket. */
export interface Held {
  readonly permit: string;
  readonly nonce: string;
  readonly coin: Uint8Array;
  readonly expires: number;
  /** Of a ticket. */
  readonly action?: Action;
  /** The tab that fetched it, and uses it where a tab needs its own. */
  tab: string;
}

/** A decision. Raw data is kept here until its one report is drawn. */
export interface Pending extends Answered {
  readonly id: string;
  readonly paid: Entry;
  readonly at: number;
}

/** One report as it will leave, and when it is due. */
export interface Outgoing {
  readonly paid: Entry;
  /** JSON: these bytes and no others are sent. */
  readonly report: string;
  readonly due: number;
}

/** What one report cost and what became of it. Entries are added, never taken back. */
export interface Entry {
  readonly id: number;
  readonly joined: string;
  readonly epsilon: number;
  readonly delta: number;
  readonly cost: Spent;
  readonly hour: number;
  readonly fate: string;
}

/** Changes the record, and writes entries of the ledger: new ones, or the old ones with another fate. */
export type Step<T> = (row: Joined, write: (entry: Entry) => void) => T;

export interface Vault {
  /** What all tasks have paid, as of this tab's last step; what became of it may be older. */
  readonly entries: readonly Entry[];
  /** All of it or nothing. What a step does to a task that was never joined is not kept. */
  transact<T>(step: Step<T>, durability?: "strict"): Promise<T>;
  /** The entries of all tasks as they are now. */
  ledger(): Promise<Entry[]>;
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
    request.result.createObjectStore("tasks", { keyPath: "joined" });
    request.result.createObjectStore("ledger", { keyPath: "id" });
  };
  const database = await answered(request);
  database.onversionchange = () => database.close(); // somebody deletes it, or a newer version of this file needs it
  const entries: Entry[] = [];
  const begin = (durability: "relaxed" | "strict") =>
    database.transaction(["tasks", "ledger"], "readwrite", { durability });
  return {
    entries,
    close: () => database.close(),
    ledger: () => answered(begin("relaxed").objectStore("ledger").getAll()),
    async transact(step, durability = "relaxed" as never) {
      const transaction = begin(durability);
      const [tasks, ledger] = [transaction.objectStore("tasks"), transaction.objectStore("ledger")];
      const ended = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      const work = async () => {
        const row: Joined = { ...newRow(joined), ...(await answered(tasks.get(joined))) };
        entries.push(...(await answered(ledger.getAll(IDBKeyRange.lowerBound(entries.at(-1)?.id ?? 0, true)))));
        const found = step(row, (entry) => ledger.put(entry));
        if (row.contract) tasks.put(row);
        return found;
      };
      const worked = work().catch((error) => {
        transaction.abort();
        throw error;
      });
      return (await Promise.all([worked, ended]))[0];
    },
  };
}
