/**
 * One IndexedDB database for all tasks of one owner: contracts, offers, decisions, the ledger and the outbox. All that
 * is kept is kept here, and every step is a transaction over all of it, so several tabs see one state.
 *
 * A transaction that has ended survives the death of the page. A strict one survives the loss of power too, and with it
 * all that came before. One strict transaction per report is enough: the claim of the draw, after which the debit is on
 * the disk and no second draw can happen.
 */

import type { Spent } from "../privacy/spent.js";
import type { Action } from "../users/index.js";
import type { Answered } from "./answers.js";

/** A task that was joined. `contract` are the bytes that were pinned. */
export interface Joined {
  joined: string;
  contract: Uint8Array;
  mode: "live" | "apprentice";
  open: boolean;
  optedOut: boolean;
  /** Has the server shown another contract? Then nothing is promised any more. */
  changed: boolean;
  /** Of a task that knows enough; undefined before. */
  recommendation?: Action;
  /** The version of the newest model; empty before the first. */
  newest: string;
  /** When the status must be asked for again; all times are seconds since 1970, and all tabs go by the same. */
  askAgain: number;
  /** When the next permit is fetched, if one is missing: -1 before the first, 0 while none is missing. */
  nextPermit: number;
  /** How often the server did not answer in a row, and until when it is left alone. */
  failures: number;
  until: number;
}

/** A permit or ticket that was not used yet. */
export interface Held {
  id?: number;
  joined: string;
  permit: string;
  nonce: string;
  /** Of a ticket. */
  action?: Action;
  expires: number;
  /** The tab that will use this ticket; empty before. */
  tab: string;
}

/** A decision whose report was promised. Raw data is kept here until its one report is drawn. */
export interface Pending extends Answered {
  readonly id: string;
  readonly joined: string;
  /** In the ledger. */
  readonly entry: number;
  /** The tab that has claimed the draw; empty before. */
  readonly drawing: string;
  readonly at: number;
}

/** What one report cost. Rows are added, never taken back. */
export interface Entry {
  id?: number;
  joined: string;
  epsilon: number;
  delta: number;
  cost: Spent;
  hour: number;
  fate: string;
}

/** One report as it will leave, and when it is due. */
export interface Outgoing {
  id?: number;
  joined: string;
  entry: number;
  /** JSON: these bytes and no others are sent. */
  report: string;
  due: number;
}

interface Kept {
  joined: string;
  version: string;
  body: Uint8Array;
}

interface Count {
  joined: string;
  name: string;
  count: number;
}

const KEYS = {
  tasks: "joined",
  models: ["joined", "version"],
  permits: "id",
  decisions: "id",
  ledger: "id",
  outbox: "id",
  counts: ["joined", "name"],
};
const NAMES = Object.keys(KEYS) as (keyof typeof KEYS)[];
const FORMAT = 1;

function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** The database. Raises where the browser gives no storage. */
export class Vault {
  private constructor(
    private readonly database: IDBDatabase,
    private readonly joined: string,
  ) {
    database.onversionchange = () => database.close(); // somebody deletes it, or a newer version of this file needs it
  }

  static async open(name: string, joined: string): Promise<Vault> {
    const request = indexedDB.open(name, FORMAT);
    request.onupgradeneeded = () => {
      for (const table of NAMES) {
        const keyPath = KEYS[table];
        request.result
          .createObjectStore(table, { keyPath, autoIncrement: keyPath === "id" })
          .createIndex("of", "joined");
      }
    };
    return new Vault(await answered(request), joined);
  }

  /** All of it or nothing. `work` may wait for nothing but its tables. */
  async transact<T>(work: (tables: Tables) => Promise<T>, durability: "strict" | "relaxed" = "relaxed"): Promise<T> {
    const transaction = this.database.transaction(NAMES, "readwrite", { durability });
    const ended = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    try {
      const [result] = await Promise.all([work(new Tables(transaction, this.joined)), ended]);
      return result;
    } catch (error) {
      if (transaction.error === null) transaction.abort();
      throw error;
    }
  }

  close(): void {
    this.database.close();
  }
}

/** One kind of rows in a transaction. */
class Rows<Row> {
  constructor(private readonly store: IDBObjectStore) {}

  get(key: IDBValidKey): Promise<Row | undefined> {
    return answered(this.store.get(key));
  }

  of(joined: string): Promise<Row[]> {
    return answered(this.store.index("of").getAll(joined));
  }

  after(id: number): Promise<Row[]> {
    return answered(this.store.getAll(IDBKeyRange.lowerBound(id, true)));
  }

  put(row: Row): Promise<IDBValidKey> {
    return answered(this.store.put(row));
  }

  remove(key: IDBValidKey): Promise<undefined> {
    return answered(this.store.delete(key));
  }
}

/** The tables in one transaction, and the steps that are made of them, for one task. */
export class Tables {
  readonly tasks: Rows<Joined>;
  readonly models: Rows<Kept>;
  readonly permits: Rows<Held>;
  readonly decisions: Rows<Pending>;
  readonly ledger: Rows<Entry>;
  readonly outbox: Rows<Outgoing>;
  readonly counts: Rows<Count>;

  constructor(
    transaction: IDBTransaction,
    readonly joined: string,
  ) {
    const rows = <Row>(table: keyof typeof KEYS) => new Rows<Row>(transaction.objectStore(table));
    this.tasks = rows("tasks");
    this.models = rows("models");
    this.permits = rows("permits");
    this.decisions = rows("decisions");
    this.ledger = rows("ledger");
    this.outbox = rows("outbox");
    this.counts = rows("counts");
  }

  /** Change what is known of the task; the whole of it. */
  async set(changes: Partial<Joined>): Promise<Joined> {
    const row = { ...(await this.tasks.get(this.joined))!, ...changes };
    await this.tasks.put(row);
    return row;
  }

  /** Add one to one of the owner's statistics. */
  async count(...names: string[]): Promise<void> {
    const { joined } = this;
    for (const name of names) {
      await this.counts.put({ joined, name, count: ((await this.counts.get([joined, name]))?.count ?? 0) + 1 });
    }
  }

  /** Keep the newest model; it replaces all that no open decision needs. */
  async keepModel(version: string, body: Uint8Array): Promise<Joined> {
    const { joined } = this;
    const needed = new Set((await this.decisions.of(joined)).map((decision) => decision.version));
    for (const old of await this.models.of(joined)) {
      if (!needed.has(old.version)) await this.models.remove([joined, old.version]);
    }
    await this.models.put({ joined, version, body });
    return this.set({ newest: version });
  }

  /** Permits or tickets that are valid until then, the oldest first; the others are thrown away: nothing was drawn. */
  async valid(until: number): Promise<Held[]> {
    const held = await this.permits.of(this.joined);
    for (const one of held) if (one.expires <= until) await this.permits.remove(one.id!);
    return held.filter((one) => one.expires > until);
  }

  /** Claim the one draw of a decision for a tab. It succeeds once, whatever happens afterwards. */
  async begin(id: string, tab: string): Promise<Pending | undefined> {
    const pending = await this.decisions.get(id);
    if (pending?.joined !== this.joined || pending.drawing) return undefined;
    await this.decisions.put({ ...pending, drawing: tab });
    return pending;
  }

  /** Forget the raw data and keep the report; nothing if it was withdrawn while the report was drawn. */
  async finish(pending: Pending, report: string, due: number): Promise<Outgoing | undefined> {
    if (!(await this.decisions.get(pending.id))) return undefined;
    await this.decisions.remove(pending.id);
    await this.settle(pending.entry, "drawn");
    const row: Outgoing = { joined: this.joined, entry: pending.entry, report, due };
    return { ...row, id: (await this.outbox.put(row)) as number };
  }

  /** Lose the decisions whose tab died during the draw: a second draw would be a second report. */
  async giveUp(living: Set<string>): Promise<void> {
    for (const { id, drawing, entry } of await this.decisions.of(this.joined)) {
      if (!drawing || living.has(drawing)) continue;
      await this.settle(entry, "lost");
      await this.decisions.remove(id);
    }
  }

  /** Forget everything that was promised and has not left. */
  async withdraw(fate: string): Promise<void> {
    for (const table of [this.decisions, this.outbox]) {
      for (const { id, entry } of await table.of(this.joined)) {
        await this.settle(entry, fate);
        await table.remove(id!);
      }
    }
  }

  /** What became of a report. */
  async settle(entry: number, fate: string): Promise<void> {
    await this.ledger.put({ ...(await this.ledger.get(entry))!, fate });
  }

  /** Entries of the ledger by fate, and all that was counted. */
  async stats(): Promise<Record<string, number>> {
    const found: Record<string, number> = {};
    for (const { fate } of await this.ledger.of(this.joined)) found[fate] = (found[fate] ?? 0) + 1;
    for (const { name, count } of await this.counts.of(this.joined)) found[name] = count;
    return found;
  }
}
