/** Everything for which a device needs its server. A bad network raises nothing after joining. */

import type { Entropy } from "../privacy/entropy.js";
import { DAY, dimensionOf } from "../protocol/contract.js";
import { WireError } from "../protocol/errors.js";
import { modelFrom, versionOf, type Model } from "../protocol/offers.js";
import { problemFrom } from "../protocol/problems.js";
import { taskStatus, verdicts } from "../protocol/wire.js";
import { good, read, type Answer, type Ask } from "./http.js";
import type { Stock } from "./permits.js";
import type { Standing } from "./standing.js";
import type { Terms } from "./terms.js";
import type { Outgoing } from "./vault.js";

/** Verdicts after which the device looks at the contract and the model again. */
const SUSPICIOUS = ["bad-gate", "bad-payload", "unknown-version"];
/** Seconds that an answer is fresh when the server does not say. */
const FRESH = 60;
/** Characters that a number of a model may take, on average. */
const LARGEST_NUMBER = 32;
const LONGEST_BACKOFF = 3600;

/** Takes reports out, and brings models, tickets and news of the task in. */
export class Network {
  /** The newest model that this tab has read. */
  model: Model | undefined;
  version = "";
  body: Uint8Array | undefined;
  /** A copy of the outbox, for when the page is closed and there is no time to read it. */
  outgoing: Outgoing[] = [];
  /** What this tab is sending. */
  private readonly leaving = new Set<number>();

  constructor(
    private readonly standing: Standing,
    private readonly terms: Terms,
    private readonly ask: Ask,
    private readonly entropy: Entropy,
    readonly stock: Stock,
  ) {}

  /** Read what other tabs have changed. */
  async catchUp(): Promise<void> {
    const { vault, row } = this.standing;
    await vault?.transact(async (tables) => {
      const found = await tables.tasks.get(row.joined);
      if (!found) return;
      const kept = found.newest !== this.version ? await tables.models.get([row.joined, found.newest]) : undefined;
      if (kept) this.know(kept.version, kept.body);
      this.outgoing = await tables.outbox.of(row.joined);
      this.standing.see(found);
    });
  }

  // --- out -----------------------------------------------------------------------------------------------------------

  /**
   * How many reports were acknowledged, and how many refused for good. Each was delayed by itself and leaves by itself,
   * in a request of its own. What was withdrawn meanwhile stays.
   */
  async deliver(now: number): Promise<[acknowledged: number, refused: number]> {
    let [acknowledged, refused] = [0, 0];
    await this.catchUp();
    for (const row of this.inRandomOrder(this.due(now))) {
      if (!this.ready(now) || !this.standing.row.open) break;
      if (!(await this.standing.vault!.transact((tables) => tables.outbox.get(row.id!)))) continue;
      const fate = await this.send(row, now);
      if (fate === "accepted" || fate === "duplicate") acknowledged++;
      else if (fate) refused++;
    }
    return [acknowledged, refused];
  }

  /** The page is being closed: what is due leaves now, and nothing else. */
  leave(now: number): void {
    if (this.ready(now) && this.standing.row.open) for (const row of this.due(now)) void this.send(row, now, true);
  }

  private due(now: number): Outgoing[] {
    return this.outgoing.filter((row) => row.due <= now && !this.leaving.has(row.id!));
  }

  /** What the server says of a report, which then leaves the outbox; nothing where it stays. */
  private async send(row: Outgoing, now: number, keepalive = false): Promise<string | undefined> {
    this.leaving.add(row.id!);
    try {
      const fate = fateOf(
        await this.ask("/reports", { body: `{"reports":[${row.report}]}`, keepalive }).catch(() => null),
      );
      if (typeof fate === "number") {
        await this.failed(now, fate);
        return undefined;
      }
      if (fate === "task-paused") {
        await this.standing.set({ open: false, askAgain: now + FRESH }); // keep the rest, and ask again after a while
        return undefined;
      }
      await this.standing.set({ failures: 0, until: 0, ...(SUSPICIOUS.includes(fate) && { askAgain: 0 }) });
      await this.settle(row, fate);
      return fate;
    } finally {
      this.leaving.delete(row.id!);
    }
  }

  /** A report that was answered for good leaves the outbox. */
  private async settle(row: Outgoing, fate: string): Promise<void> {
    this.outgoing = this.outgoing.filter((one) => one !== row);
    await this.standing.vault!.transact(async (tables) => {
      if (!(await tables.outbox.get(row.id!))) return;
      await tables.outbox.remove(row.id!);
      await tables.settle(row.entry, fate === "accepted" || fate === "duplicate" ? "sent" : fate);
      await tables.count(fate);
    });
  }

  private inRandomOrder(rows: Outgoing[]): Outgoing[] {
    for (let last = rows.length - 1; last > 0; last--) {
      const other = this.entropy.below(last + 1);
      [rows[last], rows[other]] = [rows[other]!, rows[last]!];
    }
    return rows;
  }

  // --- in ------------------------------------------------------------------------------------------------------------

  /** What is old is asked for again: the status, with it the model; and permits or tickets that may be used. */
  async renew(now: number, reporting: boolean): Promise<void> {
    const { askAgain, changed } = this.standing.row;
    if (now >= askAgain || askAgain > now + DAY || changed) await this.askStatus(now); // the clock may have been put back
    const number = reporting ? await this.stock.due(now) : 0;
    if (number) await this.fetch(number, now);
  }

  async askStatus(now: number): Promise<void> {
    await this.attempt(now, async () => {
      const answer = good(await this.ask(""));
      const { digest, mode, state, version } = read(answer, taskStatus);
      if (digest !== this.terms.digest) {
        const changes = { changed: true, askAgain: now + FRESH };
        return this.standing.set(changes, (tables) => tables.withdraw("contract-changed"));
      }
      const { kind } = this.terms.contract.offers;
      if (kind === "model" && version && version !== this.version) await this.fetchModel();
      const askAgain = now + (kind === "model" || state !== "open" ? maxAge(answer) : DAY);
      return this.standing.set({ mode, open: state === "open", changed: false, askAgain });
    });
  }

  /** So many permits or tickets. */
  async fetch(number: number, now: number): Promise<void> {
    await this.attempt(now, () => this.stock.fetch(number));
  }

  private async fetchModel(): Promise<void> {
    const { body } = good(await this.ask("/model"));
    const { offers } = this.terms.contract;
    if (offers.kind !== "model") return;
    if (body.length > LARGEST_NUMBER * (dimensionOf(offers) + 3) ** 2) {
      throw new WireError(`a model of ${body.length} bytes is not one of this task`);
    }
    const version = versionOf(body);
    this.know(version, body);
    await this.standing.vault?.transact((tables) => tables.keepModel(version, body));
    await this.standing.set({ newest: version });
  }

  /** The model of this version, of which these are the bytes. */
  modelOf(version: string, body: Uint8Array): Model {
    const { offers } = this.terms.contract;
    if (offers.kind !== "model") throw new WireError("a task with tickets has no model");
    return this.model && version === this.version ? this.model : modelFrom(body, offers.model, dimensionOf(offers));
  }

  private know(version: string, body: Uint8Array): void {
    this.model = this.modelOf(version, body);
    this.version = version;
    this.body = body;
  }

  // --- a server that does not answer is left alone: twice as long each time, with chance mixed in --------------------

  /** Use the network unless it failed just now. */
  private async attempt(now: number, work: () => Promise<void>): Promise<void> {
    if (!this.ready(now)) return;
    try {
      await work();
    } catch (error) {
      console.info(`sottovoce: task ${this.terms.contract.id}: ${error}`);
      await this.failed(now);
    }
  }

  private ready(now: number): boolean {
    const { until } = this.standing.row;
    return now >= until || until > now + DAY;
  }

  private async failed(now: number, atLeast = 0): Promise<void> {
    const { failures } = this.standing.row;
    const pause = (Math.min(LONGEST_BACKOFF, 2 ** failures) * (1 + this.entropy.below(1000) / 1000)) / 2;
    await this.standing.set({ failures: Math.min(failures + 1, 20), until: now + Math.max(atLeast, pause) });
  }
}

/** The server's word on the report; where it has not judged it, the least number of seconds to wait. */
export function fateOf(answer: Answer | null): string | number {
  if (!answer) return 0;
  const { status, headers, body } = answer;
  if (status === 200) {
    try {
      const [verdict, ...more] = read(answer, verdicts).verdicts;
      return more.length ? 0 : (verdict ?? 0);
    } catch {
      return 0;
    }
  }
  const problem = problemFrom(body);
  if (400 <= status && status < 500 && status !== 408 && status !== 429 && problem) return problem;
  const after = headers.get("retry-after") ?? "";
  return /^\d+$/.test(after) ? Math.min(Number(after), DAY) : 0;
}

/** Seconds for which an answer is fresh. */
export function maxAge({ headers }: Answer): number {
  const [, seconds] = /max-age=(\d{1,9})/.exec(headers.get("cache-control") ?? "") ?? [];
  return seconds ? Math.min(Number(seconds), DAY) : FRESH;
}
