/**
 * One person's device in a browser: it chooses locally, observes, and sends one private report per decision.
 *
 * Order of work for a report: pay (when the decision is made), claim the draw, draw, persist the report and forget the
 * raw data, send. Each step but the draw is a transaction of its own, and the next one begins when it has ended.
 *
 * Why no datum is drawn for twice, whatever dies when: a draw is made only after a transaction has ended that found the
 * decision unclaimed and wrote the claim, and transactions of all tabs come one after another; so of two tabs one finds
 * the other's claim. The claim is strict: it is on the disk before the draw, and no later state is without it. Claims
 * are never taken back. A page that dies after its claim leaves a decision that nobody may draw for; the next page that
 * opens gives it up, and its report is lost. A page that dies after the report was kept leaves the bytes that are sent
 * again, which the server counts once. A page that dies before the claim has drawn nothing.
 *
 * Whether, when and with what length a report leaves depends on the decision and on chance, never on what was observed:
 * unobserved decisions report the default reward, bad input too, and every report waits for the decision's deadline.
 */

import { privatise } from "../privacy/drawing.js";
import { SYSTEM, type Entropy } from "../privacy/entropy.js";
import { fromText, toText } from "../protocol/codec.js";
import { NAME, type ByModel, type Contract } from "../protocol/contract.js";
import { BadInput, ConfigurationError, Unreachable } from "../protocol/errors.js";
import { coinOf } from "../protocol/permits.js";
import type { Report } from "../protocol/wire.js";
import type { RawFields } from "../users/fields.js";
import type { Action } from "../users/index.js";
import { baselineOf, contextOf, documentOf, messageOf, nameOf, NOT_OBSERVED, type Decision } from "./answers.js";
import { Background } from "./background.js";
import { asking } from "./http.js";
import { changed, join } from "./joining.js";
import { Account, limitsOf, type Balance, type Limits } from "./ledger.js";
import { Network } from "./network.js";
import { Purse, type Subject } from "./paying.js";
import { Stock, type Admission } from "./permits.js";
import { Standing } from "./standing.js";
import { Tabs } from "./tabs.js";
import type { Terms } from "./terms.js";
import { Vault, type Held } from "./vault.js";

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
  /** The name of the database, where several people share a browser: one name for each. */
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

/**
 * A task joined by one owner. Events: "model" when there is a newer model, "state" when anything else has changed.
 *
 * `choose` does not wait for the network once there is an offer, `chooseNow` waits for nothing. Several tabs may have the
 * same task open: what is kept is shared.
 */
export class Device extends EventTarget {
  private readonly background = new Background(() => this.send());
  /** Choices that are being written down. */
  private readonly recording = new Map<string, Promise<Decision>>();
  private readonly purse: Purse;
  private readonly stock: Stock;
  private lastOffer: Action | undefined;
  private readonly listening = new AbortController();

  private constructor(
    private readonly terms: Terms,
    private readonly standing: Standing,
    private readonly network: Network,
    private readonly tabs: Tabs | undefined,
    private readonly options: Options,
    limits: Limits,
  ) {
    super();
    this.stock = network.stock;
    this.purse = new Purse(standing, terms, new Account(limits, terms.contract.limit), this.stock);
    standing.changed = ({ newest }) =>
      this.dispatchEvent(new Event(newest === standing.row.newest ? "state" : "model"));
  }

  /** Join a task, or go on with it. Raises where its contract is refused, or was never seen and cannot be had. */
  static async open(server: string, task: string, options: Options = {}): Promise<Device> {
    if (!NAME.test(task)) {
      throw new ConfigurationError(`a task's id has lower-case letters, digits and dashes, got "${task}"`);
    }
    server = server.replace(/\/+$/, "");
    const { storage = "sottovoce", entropy = SYSTEM, now = clock, admission } = options;
    const limits = limitsOf(options.limits);
    const ask = asking(options.fetch ?? ((...given) => fetch(...given)), server, task);
    const joined = `${server} ${task}`;
    const shared = await share(storage, joined);
    try {
      const [terms, row] = await join(shared?.vault, ask, joined, task, limits, options.epsilon, now());
      const standing = new Standing(shared?.vault, row, () => shared?.tabs.tell());
      const stock = new Stock(standing, shared?.tabs, terms, ask, entropy, admission);
      const network = new Network(standing, terms, ask, entropy, stock);
      const device = new Device(terms, standing, network, shared?.tabs, { ...options, entropy, now }, limits);
      await device.arrive();
      return device;
    } catch (error) {
      shared?.tabs.close();
      shared?.vault.close();
      throw error;
    }
  }

  /** What this device has agreed to. */
  get contract(): Contract {
    return this.terms.contract;
  }

  // --- choosing ------------------------------------------------------------------------------------------------------

  /**
   * An action for this person. While the task is an apprentice the app's own choice, `baseline`, is shown and reported
   * about. Without budget, consent or storage the choice is made all the same, and nothing will be sent.
   */
  async choose(fields?: Given, { baseline = 0 }: { baseline?: number | string } = {}): Promise<Decision> {
    const { network, stock, contract } = this;
    if (contract.offers.kind === "model") {
      if (!network.model) await this.alone("in", () => network.askStatus(this.now()));
      return this.byModel(contract.offers, fields, baseline).recorded;
    }
    const ticket = stock.take(this.now()) ?? (await this.alone("in", () => this.nextTicket()));
    return this.byTicket(ticket).recorded;
  }

  /** The same without waiting, from what this tab has in memory; see `prefetch`. */
  chooseNow(fields?: Given, { baseline = 0 }: { baseline?: number | string } = {}): Choice {
    const { offers } = this.contract;
    return offers.kind === "model"
      ? this.byModel(offers, fields, baseline)
      : this.byTicket(this.stock.take(this.now()));
  }

  /**
   * Keep so many tickets or permits ready (now, and at every `send`). With tickets `choose` then need not wait for the
   * server. A decision without a permit is not reported; by default two are kept. Many permits fetched at once tell the
   * server that their reports come from one device.
   */
  async prefetch(number: number): Promise<void> {
    this.stock.wanted = number;
    await this.alone("in", async () => {
      const missing = await this.stock.missing(this.now());
      if (missing && (await this.purse.affords(this.now()))) await this.network.fetch(missing, this.now());
    });
  }

  private byModel(offers: ByModel, fields: Given, baseline: number | string): Choice {
    const [context, bad] = contextOf(offers, fields);
    if (bad) console.warn(`sottovoce: task ${this.contract.id}: ${bad}`);
    if (bad && this.options.strict) throw new BadInput(bad);
    const { model, version, body } = this.network;
    const chance = this.options.entropy!.below(2 ** 53) / 2 ** 53;
    const action =
      this.standing.row.mode === "apprentice"
        ? baselineOf(offers, baseline, context.length)
        : bad || !model
          ? Math.floor(chance * context.length)
          : this.terms.user.act(model, context, chance);
    const problem = bad || (model ? "" : "there is no model yet and the server does not answer");
    return this.chosen(action, problem, model && { version, body, raw: context[action] }, bad ? ["bad_input"] : []);
  }

  private byTicket(ticket: Held | undefined): Choice {
    const { recommendation } = this.standing.row;
    if (recommendation !== undefined) return this.chosen(recommendation, "");
    if (!ticket) return this.chosen(this.anyAction(), "there is no ticket at hand");
    const action = (this.lastOffer = ticket.action!);
    return this.chosen(action, "", { raw: action, version: "", ticket });
  }

  /** From another tab that was closed, or from the server. */
  private async nextTicket(): Promise<Held | undefined> {
    const { stock, network } = this;
    if (this.standing.row.recommendation !== undefined) return undefined;
    await stock.left(this.now());
    const ticket = stock.take(this.now());
    if (ticket) return ticket;
    await network.fetch(stock.wanted || 1, this.now());
    return stock.take(this.now());
  }

  /** Without any offer: what was offered last, or any arm. */
  private anyAction(): Action {
    const { actions } = this.contract.offers;
    if (this.lastOffer !== undefined) return this.lastOffer;
    if (actions.length) return this.options.entropy!.below(actions.length);
    throw new Unreachable(`task "${this.contract.id}" has not offered any point yet`);
  }

  /** The choice, which is written down right after. Without a subject there is nothing to report. */
  private chosen(action: Action, problem: string, subject?: Subject, notes: string[] = []): Choice {
    const id = toText(this.options.entropy!.octets(12));
    const made = { id, action, name: nameOf(this.contract.offers, action), problem };
    const recorded = this.record(made, this.now(), subject, notes);
    this.recording.set(id, recorded);
    void recorded.finally(() => this.recording.delete(id));
    return { ...made, recorded };
  }

  private async record(
    made: Omit<Decision, "reported">,
    at: number,
    subject: Subject | undefined,
    notes: string[],
  ): Promise<Decision> {
    const { vault } = this.standing;
    let reason = NO_STORAGE;
    try {
      if (vault) {
        reason = await vault.transact(async (tables) => {
          const found = subject ? await this.purse.promise(tables, made.id, at, this.tabs!.id, subject) : made.problem;
          await tables.count(...notes, ...(found || !subject ? ["silent"] : []));
          return found;
        });
      }
    } catch (error) {
      reason = `the decision could not be written down: ${(error as Error).name}`;
    }
    return { ...made, reported: !!subject && !reason, problem: made.problem || reason };
  }

  // --- observing and sending -----------------------------------------------------------------------------------------

  /**
   * How it went: a number in the task's units, or one per point where several were tried. Larger is better.
   *
   * True if this reward will be reported; false if the decision is without a report or not known here, was observed
   * before, or its deadline has passed. What lies outside the declared range is clipped, what is no number becomes the
   * default.
   */
  async observe(id: string, reward: unknown): Promise<boolean> {
    await this.recording.get(id);
    const { terms, network, contract } = this;
    const { vault, row } = this.standing;
    const tab = await this.tabs?.arrived;
    if (!vault || !tab) return false;
    const claimed = await vault.transact(async (tables) => {
      const pending = await tables.begin(id, tab);
      return pending && ([pending, await tables.models.get([row.joined, pending.version])] as const);
    }, "strict");
    if (!claimed) return false;
    const [pending, kept] = claimed;
    const deadline = pending.at + contract.reward.wait;
    const late = this.now() > deadline;
    const models = new Map(kept && [[kept.version, network.modelOf(kept.version, kept.body)]]);
    const [message, notes] = messageOf(terms, models, pending, late ? NOT_OBSERVED : reward);
    const coin = coinOf(fromText(pending.permit), fromText(pending.nonce));
    const drawn = privatise(terms.mechanisms[pending.gate]!, message, this.options.entropy!, coin);
    const report = JSON.stringify(documentOf(contract, pending, drawn));
    const due = deadline + this.options.entropy!.below(1000 * contract.delay + 1) / 1000; // whenever the reward came
    const waiting = await vault.transact(async (tables) => {
      await tables.count(...notes);
      return tables.finish(pending, report, due);
    });
    if (waiting) network.outgoing.push(waiting);
    return !!waiting && !late;
  }

  /** Report the default for overdue decisions, send what is due, look for a newer model. Never raises for the net. */
  async send(): Promise<Sent> {
    const { network, standing } = this;
    const now = this.now();
    let [acknowledged, refused] = [0, 0];
    if (standing.vault) {
      const before = now - this.contract.reward.wait;
      const open = await standing.vault.transact((tables) => tables.decisions.of(standing.row.joined));
      for (const { id, at, drawing } of open) if (at < before && !drawing) await this.observe(id, NOT_OBSERVED);
      [acknowledged, refused] = await this.alone("out", () => network.deliver(now));
    }
    await this.alone("in", async () => {
      await network.catchUp();
      await network.renew(now, await this.purse.affords(now));
    });
    return { acknowledged, refused, waiting: network.outgoing.length };
  }

  // --- the owner -----------------------------------------------------------------------------------------------------

  /** Exactly what will leave this device, what it cost and when it is due. */
  async outbox(): Promise<Waiting[]> {
    const { vault, row } = this.standing;
    const waiting = vault?.transact(async (tables) =>
      Promise.all(
        (await tables.outbox.of(row.joined)).map(async ({ report, entry, due }) => {
          const { epsilon, delta } = (await tables.ledger.get(entry))!;
          return { report: JSON.parse(report) as Report, epsilon, delta, due };
        }),
      ),
    );
    return (await waiting) ?? [];
  }

  /** What was spent and what is left. */
  balance(): Promise<Balance> {
    return this.purse.balance(this.now());
  }

  /** Counts: entries of the ledger by fate, verdicts, and what was clipped, bad, unobserved or not reported. */
  async stats(): Promise<Record<string, number>> {
    const { vault } = this.standing;
    return { promised: 0, drawn: 0, sent: 0, lost: 0, ...(await vault?.transact((tables) => tables.stats())) };
  }

  /** Withdraw what has not left, in all tabs, and report nothing more. Choosing goes on; what was spent stays spent. */
  async optOut(): Promise<void> {
    await this.standing.set({ optedOut: true }, (tables) => tables.withdraw("withdrawn"));
    this.network.outgoing = [];
  }

  /** Report again, on the old ledger. */
  optIn(): Promise<void> {
    return this.standing.set({ optedOut: false });
  }

  // --- the page ------------------------------------------------------------------------------------------------------

  /** Call `send` again and again. One tab at a time sends. */
  start(seconds = 15): void {
    this.background.start(seconds);
  }

  /** What waits stays in the outbox. */
  stop(): void {
    this.background.stop();
  }

  close(): void {
    this.stop();
    this.listening.abort();
    this.tabs?.close();
    this.standing.vault?.close();
  }

  /** A page is shown: see what other pages have left, and what is new. */
  private async arrive(): Promise<void> {
    const { network, standing, tabs } = this;
    const living = await tabs?.living();
    if (living) await standing.vault!.transact((tables) => tables.giveUp(living), "strict");
    await this.alone("in", async () => {
      await network.catchUp();
      await network.renew(this.now(), false);
      if (standing.row.changed) throw changed(this.contract.id);
      const first = standing.row.nextPermit < 0 && (await this.stock.missing(this.now())) > 0;
      if (first && (await this.purse.affords(this.now()))) await network.fetch(1, this.now()); // the others come later
    });
    const { signal } = this.listening;
    const left = () => network.leave(this.now());
    tabs?.heard(() => void network.catchUp());
    globalThis.document?.addEventListener("visibilitychange", () => document.hidden && left(), { signal });
    globalThis.addEventListener?.("pagehide", () => (left(), tabs?.leave()), { signal });
    globalThis.addEventListener?.("pageshow", ({ persisted }) => persisted && tabs?.arrive(), { signal });
  }

  private alone<T>(what: string, work: () => Promise<T>): Promise<T> {
    return this.tabs ? this.tabs.alone(what, work) : work();
  }

  private now(): number {
    return this.options.now!();
  }
}

const NO_STORAGE = "this page has no storage or no Web Locks (they need https), so nothing is reported";

function clock(): number {
  return Date.now() / 1000;
}

/** What tabs share; nothing where the browser does not allow it. */
async function share(storage: string, joined: string): Promise<{ vault: Vault; tabs: Tabs } | undefined> {
  let vault: Vault | undefined;
  try {
    vault = await Vault.open(storage, joined);
    const tabs = new Tabs(`${storage} ${joined} `);
    await tabs.arrive();
    return { vault, tabs };
  } catch {
    vault?.close();
    return undefined;
  }
}
