/** A decision is paid for when it is made: whether it is reported can then not depend on what comes of it. */

import type { Account, Balance } from "./ledger.js";
import type { Stock } from "./permits.js";
import type { Standing } from "./standing.js";
import { expired, type Terms } from "./terms.js";
import type { Held, Tables } from "./vault.js";

/** What a report will be about: the chosen features and their model, or a ticket and its action. */
export interface Subject {
  readonly raw: unknown;
  readonly version: string;
  /** The model. */
  readonly body?: Uint8Array | undefined;
  readonly ticket?: Held;
}

export class Purse {
  /** The last entry of the ledger that was read. */
  private last = 0;

  constructor(
    private readonly standing: Standing,
    private readonly terms: Terms,
    private readonly account: Account,
    private readonly stock: Stock,
  ) {}

  /** Promise a report and pay for it, in one transaction; or the reason why there will be none. */
  async promise(tables: Tables, id: string, at: number, tab: string, subject: Subject): Promise<string> {
    const { gate, mechanism, contract } = this.terms;
    const { raw, version, body, ticket } = subject;
    const { joined } = tables;
    if (ticket) {
      const kept = await tables.permits.get(ticket.id!);
      if (kept?.tab !== tab) return "another tab has used this ticket";
      await tables.permits.remove(ticket.id!); // also if nothing is reported: its action was shown
    }
    const { optedOut, changed, open } = (await tables.tasks.get(joined))!;
    if (optedOut) return "the person has opted out";
    if (changed) return "the server has another contract now";
    if (!open || expired(contract, at)) return "the task takes no reports now";
    await this.enter(tables);
    if (!this.account.affords(mechanism, at)) return "the budget is spent";
    const held = ticket ?? (await tables.valid(this.stock.until(at)))[0];
    if (!held) return "there is no permit at hand, so nothing is reported";
    if (!ticket) await tables.permits.remove(held.id!);
    if (body) await tables.models.put({ joined, version, body }); // another tab may have thrown it away meanwhile
    const { epsilon, delta } = mechanism.budget;
    const paid = { joined, epsilon, delta, cost: mechanism.cost(), hour: this.account.hour(at), fate: "promised" };
    const entry = (await tables.ledger.put(paid)) as number;
    const { permit, nonce } = held;
    await tables.decisions.put({ id, joined, entry, drawing: "", at, gate, permit, nonce, version, raw });
    return "";
  }

  /** Is there storage, the contract that was joined, and budget for one more report? */
  async affords(now: number): Promise<boolean> {
    const { vault, row } = this.standing;
    if (!vault || row.changed) return false;
    return vault.transact(async (tables) => {
      await this.enter(tables);
      return this.account.affords(this.terms.mechanism, now);
    });
  }

  /** For the owner to see. Without storage there will be no reports. */
  async balance(now: number): Promise<Balance> {
    await this.standing.vault?.transact((tables) => this.enter(tables));
    const balance = this.account.balance(this.terms.mechanism, now);
    return this.standing.vault ? balance : { ...balance, reportsLeft: 0 };
  }

  /** Entries are only added, so each is read once. */
  private async enter(tables: Tables): Promise<void> {
    for (const { id, joined, cost, hour } of await tables.ledger.after(this.last)) {
      this.last = id!;
      this.account.enter(cost, hour, joined === tables.joined);
    }
  }
}
