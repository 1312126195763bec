/**
 * Permits and tickets as a device holds them: fetched ahead, used oldest first, each for one report.
 *
 * A permit is fetched with a request of its own, at a time that has nothing to do with a decision. When its report comes
 * the server can recognise it, and so know when it was fetched. A ticket names the action, so a tab that is to choose
 * without waiting has its own, in memory; when it is closed the others may have them.
 */

import type { Entropy } from "../privacy/entropy.js";
import { fromText, toText } from "../protocol/codec.js";
import type { ByTicket } from "../protocol/contract.js";
import { ConfigurationError, WireError } from "../protocol/errors.js";
import { commitmentOf, NONCE_BYTES } from "../protocol/permits.js";
import { problemFrom } from "../protocol/problems.js";
import {
  ADMISSION,
  commitmentsBody,
  LARGEST_OFFERS,
  offers as wireOffers,
  permits as wirePermits,
} from "../protocol/wire.js";
import { good, read, type Answer, type Ask } from "./http.js";
import type { Standing } from "./standing.js";
import type { Tabs } from "./tabs.js";
import { actionFrom, recommendationFrom, type Terms } from "./terms.js";
import type { Held, Joined } from "./vault.js";

/** Permits that a device keeps ready. */
const AHEAD = 2;
/** One that is missing is fetched after up to so many seconds, at random. */
const PAUSE = 600;
/** Characters of a permit; a ticket has the memo of its offer in it. */
const LONGEST = 4096;

/** Asks the app for an admission token for so many tickets or permits. */
export type Admission = (number: number) => string | Promise<string>;

/** The permits or tickets of one task. */
export class Stock {
  /** How many to keep ready. */
  wanted: number;
  /** Tickets of this tab. */
  private tickets: Held[] = [];

  constructor(
    private readonly standing: Standing,
    private readonly tabs: Tabs | undefined,
    private readonly terms: Terms,
    private readonly ask: Ask,
    private readonly entropy: Entropy,
    private readonly admission: Admission | undefined,
  ) {
    const { id, extensions, offers } = terms.contract;
    if (!admission && "admission" in extensions) {
      throw new ConfigurationError(
        `task "${id}" admits people whom its app knows: the option admission gets their tokens`,
      );
    }
    this.wanted = offers.kind === "model" ? AHEAD : 0;
  }

  /** A permit must be valid when its report is due at the latest; a ticket, when its action is chosen. */
  until(now: number): number {
    const { offers, reward, delay } = this.terms.contract;
    return now + (offers.kind === "model" ? reward.wait + delay : 0);
  }

  /** The oldest ticket of this tab, which nobody else will use. */
  take(now: number): Held | undefined {
    this.tickets = this.tickets.filter((one) => one.expires > now);
    return this.tickets.shift();
  }

  /** How many to fetch; none while nothing may be reported. */
  async missing(now: number): Promise<number> {
    const { optedOut, open, changed, recommendation } = this.standing.row;
    if (optedOut || !open || changed || recommendation !== undefined) return 0;
    return Math.max(0, this.wanted - (await this.left(now)));
  }

  /** How many to fetch now: all tickets that are missing, but one permit, after a random pause. */
  async due(now: number): Promise<number> {
    const missing = await this.missing(now);
    if (this.terms.contract.offers.kind === "tickets" || !missing) return missing;
    let next = this.standing.row.nextPermit;
    if (next <= 0 || next > now + PAUSE) {
      next = now + this.entropy.below(1000 * PAUSE) / 1000;
      await this.standing.set({ nextPermit: next });
    }
    return now < next ? 0 : 1;
  }

  /** So many tickets, or permits one by one; raises when that fails. */
  async fetch(number: number): Promise<void> {
    const { offers } = this.terms.contract;
    if (offers.kind === "tickets") return this.fetchTickets(offers, Math.min(number, LARGEST_OFFERS));
    for (let i = 0; i < number; i++) {
      const [[nonce], answer] = await this.commit("/permits", 1);
      const [found] = read(answer, wirePermits).permits;
      if (found) await this.keep([this.held(found.permit, nonce!, found.expires)], { nextPermit: 0 });
    }
  }

  /** How many can be used by a decision that is made now. Tickets that no other tab has become this tab's. */
  async left(now: number): Promise<number> {
    const { vault } = this.standing;
    if (vault && this.tabs) {
      const { id } = this.tabs;
      const living = await this.tabs.living();
      return vault.transact(async (tables) => {
        const held = await tables.valid(this.until(now));
        if (this.terms.contract.offers.kind === "model") return held.length;
        this.tickets = held.filter((one) => one.tab === id || !living.has(one.tab)).slice(0, this.wanted || 1);
        for (const one of this.tickets) await tables.permits.put({ ...one, tab: id });
        return this.tickets.length;
      });
    }
    return this.tickets.length;
  }

  private async fetchTickets(offers: ByTicket, number: number): Promise<void> {
    const [nonces, answer] = await this.commit("/offers", number);
    const found = read(answer, wireOffers);
    const changes: Partial<Joined> = { open: true };
    if (found.done) changes.recommendation = recommendationFrom(found.recommendation, offers);
    const held = found.offers.slice(0, number).flatMap(({ ticket, action, expires }, i) => {
      try {
        return [
          {
            ...this.held(ticket, nonces[i]!, expires),
            action: actionFrom(action, offers, this.terms.mechanism.domain.size),
          },
        ];
      } catch {
        return [];
      }
    });
    await this.keep(held, changes);
  }

  /** New nonces, and the answer to a request with their commitments. */
  private async commit(route: string, number: number): Promise<[Uint8Array[], Answer]> {
    const nonces = Array.from({ length: number }, () => this.entropy.octets(NONCE_BYTES));
    const body = commitmentsBody(nonces.map((nonce) => toText(commitmentOf(nonce))));
    const answer = await this.ask(route, { body, headers: await this.token(number) });
    if (problemFrom(answer.body) === "task-paused") await this.standing.set({ open: false });
    return [nonces, good(answer)];
  }

  /** The header of a request that must be admitted. If the app's function fails, nothing is asked for. */
  private async token(number: number): Promise<Record<string, string>> {
    if (!this.admission || !("admission" in this.terms.contract.extensions)) return {};
    const token = await this.admission(number);
    fromText(token); // nothing else may become a header
    return { [ADMISSION]: token };
  }

  private held(permit: string, nonce: Uint8Array, expires: number): Held {
    if (permit.length > LONGEST) throw new WireError(`a permit of ${permit.length} characters`);
    fromText(permit);
    return { joined: this.standing.row.joined, permit, nonce: toText(nonce), expires, tab: this.tabs?.id ?? "" };
  }

  /** Tickets are this tab's at once. */
  private async keep(held: Held[], changes: Partial<Joined>): Promise<void> {
    const { vault } = this.standing;
    await vault?.transact(async (tables) => {
      for (const one of held) one.id = (await tables.permits.put(one)) as number;
    });
    this.tickets.push(...held.filter((one) => one.action !== undefined));
    await this.standing.set(changes);
  }
}
