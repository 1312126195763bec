/**
 * One person's device in a browser: it chooses locally, observes, and sends one private report per decision.
 *
 * Order of work for a report: pay (when the decision is made); draw, keep the report and forget the raw data; send. Each
 * is a transaction of its own, and the next one begins when it has ended.
 *
 * Why nobody gets two draws of one datum, whatever dies when: a draw is made inside the transaction that takes the
 * decision away and puts its report into the outbox, and only what is in the outbox is sent. Transactions of all tabs
 * come one after another, so of two tabs one finds the decision gone. A page that dies before the transaction has ended
 * leaves the decision as it was; what it may have drawn was in its memory alone, and is gone with it. A page that dies
 * afterwards leaves the bytes, which are sent again and which the server counts once. The transaction is strict: the
 * report is on the disk before it can be sent, so not even the loss of power brings the decision back.
 *
 * A device in Python writes a claim before it draws, and gives the report up if it dies in between. A page is killed all
 * the time, and most of all by the click that is observed: reports of those who click would be lost more often, and
 * whether a report leaves would depend on what was observed. Here a page that is killed loses the reward, and the report
 * leaves all the same, with the default.
 *
 * Whether, when and with what length a report leaves depends on the decision and on chance, never on what was observed:
 * unobserved decisions report the default reward, bad input too, and every report waits for the decision's deadline.
 */

import { SYSTEM } from "../privacy/entropy.js";
import { toText } from "../protocol/codec.js";
import { NAME, type Contract } from "../protocol/contract.js";
import { ConfigurationError, must } from "../protocol/errors.js";
import { nameOf, type Decision } from "./answers.js";
import { newest, set, transact, warn, type Core } from "./core.js";
import { asking } from "./http.js";
import { changed, join, share, type Shared } from "./joining.js";
import { accountOf, limitsOf, type Balance } from "./ledger.js";
import { catchUp, deliver, leave, refill, refresh, withdrawAll } from "./network.js";
import type { Made } from "./offering.js";
import type { Choice, Chosen, Given, Options, Sent, Waiting } from "./options.js";
import { balanceOf, missing, promise, reportingOf, type Reporting, type Subject } from "./paying.js";
import { report } from "./reporting.js";
import type { Entry, Joined } from "./vault.js";

/**
 * A task joined by one owner. Events: "model" when there is a newer model, "state" when the task is opened or paused, gets
 * another mode or contract or a recommendation, or the person has opted in or out.
 *
 * `choose` does not wait for the network once there is an offer, `chooseNow` waits for nothing. Several tabs may have the
 * same task open: what is kept is shared.
 */
export class Device extends EventTarget {
  readonly #core: Core;
  readonly #listening = new AbortController();
  /** What `start` began last; nothing after `stop`. */
  #running: object | undefined;

  private constructor(core: Omit<Core, "changed">) {
    super();
    const news = (before: Joined) => {
      if (stateOf(before) !== stateOf(this.#core.row)) this.dispatchEvent(new Event("state"));
      if (newest(before) !== newest(this.#core.row)) this.dispatchEvent(new Event("model"));
    };
    this.#core = { ...core, changed: news };
  }

  /** Join a task, or go on with it. Raises where its contract is refused, or was never seen and cannot be had. */
  static async open(server: string, task: string, options: Options = {}): Promise<Device> {
    must(NAME.test(task), ConfigurationError, `a task's id as in ${NAME}`, task);
    server = server.replace(/\/+$/, "");
    const {
      storage = "sottovoce",
      entropy = SYSTEM,
      now = () => Date.now() / 1000,
      admission,
      strict,
      epsilon,
    } = options;
    const limits = limitsOf(options.limits);
    const ask = asking(options.fetch ?? ((...given) => fetch(...given)), server, task);
    const joined = `${server} ${task}`;
    let device: Device | undefined;
    const opened = async (vault: Shared | undefined): Promise<Device> => {
      try {
        const [terms, row] = await join(vault, ask, joined, task, limits, epsilon, now());
        if (!admission && "admission" in terms.contract.extensions) {
          throw new ConfigurationError(`task "${task}" needs the option admission`);
        }
        const account = accountOf(limits, terms.contract.limit, vault?.entries ?? [], joined);
        const wanted = terms.offering.ahead;
        const given = { ...terms, account, ask, entropy, admission, strict, now, vault, row, wanted };
        const one = new Device({ ...given, own: [] });
        await one.#arrive();
        return (device = one);
      } catch (error) {
        vault?.close();
        if (vault && error instanceof DOMException) return opened(undefined); // the disk is full, say
        throw error;
      }
    };
    return opened(await share(storage, joined, () => device && catchUp(device.#core).catch(warn)));
  }

  /** What this device has agreed to. */
  get contract(): Contract {
    return this.#core.contract;
  }

  /** Would a decision be reported now, as far as this tab knows? */
  get reporting(): Reporting {
    return reportingOf(this.#core);
  }

  // --- choosing ------------------------------------------------------------------------------------------------------

  /**
   * An action for this person. `baseline` is the app's own choice, shown while the task is an apprentice, and in its
   * holdout. Without budget, consent or storage the choice is made all the same, and nothing will be sent.
   */
  async choose(fields?: Given, { baseline = 0 }: Chosen = {}): Promise<Decision> {
    const core = this.#core;
    const first = <T>(work: () => Promise<T>) => this.#alone("in", work).catch(warn); // storage may be gone meanwhile
    return this.#chosen(await core.offering.decide(core, first, fields, baseline)).recorded;
  }

  /** The same without waiting, from what this tab has in memory; see `prefetch`. */
  chooseNow(fields?: Given, { baseline = 0 }: Chosen = {}): Choice {
    const core = this.#core;
    return this.#chosen(core.offering.decideNow(core, fields, baseline));
  }

  /**
   * Keep so many tickets or permits ready (now, and at every `send`). With tickets `choose` then need not wait for the
   * server. A decision without a permit is not reported; by default two are kept. Many permits fetched at once tell the
   * server that their reports come from one device.
   */
  async prefetch(number: number): Promise<void> {
    const core = this.#core;
    core.wanted = number;
    await this.#alone("in", async () => refill(core, await missing(core)));
  }

  /** The choice, which is written down right after. Without a subject there is nothing to report. */
  #chosen([action, problem, subject]: Made): Choice {
    const id = toText(this.#core.entropy.octets(12));
    const made = { id, action, name: nameOf(this.contract.offers, action), problem };
    return { ...made, recorded: this.#record(made, this.#core.now(), subject) };
  }

  async #record(made: Omit<Decision, "reported">, at: number, subject: Subject | undefined): Promise<Decision> {
    const core = this.#core;
    let reason = core.vault ? "" : "no storage or no Web Locks (they need https)";
    try {
      if (subject && !reason) reason = await transact(core, promise(core, made.id, at, subject));
    } catch (error) {
      reason = `${error}`;
    }
    const problem = made.problem || (reason && `nothing is reported: ${reason}`);
    return { ...made, reported: !!subject && !reason, problem };
  }

  // --- observing and sending -----------------------------------------------------------------------------------------

  /**
   * How it went: a number in the task's units, or one per point where several were tried. Larger is better.
   *
   * True if this reward will be reported; false if the decision is without a report or not known here, was observed
   * before, or its deadline has passed. What lies outside the declared range is clipped, what is no number becomes the
   * default. The transaction of a choice has begun when it is returned, so it ends before this one begins.
   */
  observe(id: string, reward: unknown): Promise<boolean> {
    return transact(this.#core, report(this.#core, id, reward), "strict");
  }

  /** Report the default for overdue decisions, send what is due, look for a newer model. Never raises for the net. */
  async send(): Promise<Sent> {
    const core = this.#core;
    let [acknowledged, refused] = [0, 0];
    if (core.vault) {
      const before = core.now() - this.contract.reward.wait;
      for (const { id, at } of await transact(core, ({ decisions }) => decisions)) {
        if (at < before) await this.observe(id, undefined).catch(warn);
      }
      [acknowledged, refused] = await this.#alone("out", () => deliver(core));
    }
    await this.#alone("in", () => refresh(core));
    return { acknowledged, refused, waiting: core.row.outbox.length };
  }

  // --- the owner -----------------------------------------------------------------------------------------------------

  /** Exactly what will leave this device, what it cost and when it is due. */
  async outbox(): Promise<Waiting[]> {
    const outbox = await transact(this.#core, ({ outbox }) => outbox);
    return outbox.map(({ report, paid: { epsilon, delta }, due }) => ({
      report: JSON.parse(report),
      epsilon,
      delta,
      due,
    }));
  }

  /** Every report that was paid for, and what became of it. */
  async ledger(): Promise<Entry[]> {
    const { vault, row } = this.#core;
    return ((await vault?.ledger()) ?? []).filter(({ joined }) => joined === row.joined);
  }

  /** What was spent and what is left. */
  balance(): Promise<Balance> {
    return balanceOf(this.#core);
  }

  /** Withdraw what has not left, in all tabs, and report nothing more. Choosing goes on; what was spent stays spent. */
  optOut(): Promise<void> {
    return withdrawAll(this.#core, { optedOut: true }, "withdrawn");
  }

  /** Report again, on the old ledger. */
  optIn(): Promise<void> {
    return set(this.#core, { optedOut: false });
  }

  // --- the page ------------------------------------------------------------------------------------------------------

  /** Call `send` every so many seconds. One tab at a time sends. What it raises is logged; the next call comes. */
  start(seconds = 15): void {
    const mine = (this.#running = {});
    const again = (): unknown =>
      this.#running === mine &&
      this.send()
        .catch((error) => this.#running === mine && warn(error)) // what is closed meanwhile may fail
        .finally(() => setTimeout(again, 1000 * seconds));
    again();
  }

  /** What waits stays in the outbox. */
  stop(): void {
    this.#running = undefined;
  }

  close(): void {
    this.stop();
    this.#listening.abort();
    this.#core.vault?.close();
  }

  /** A page is shown: see what other pages have left, and what is new. */
  async #arrive(): Promise<void> {
    const core = this.#core;
    await this.#alone("in", async () => {
      if (core.row.changed) await set(core, { askAgain: 0 }); // it may be the old one again
      await refresh(core);
      if (core.row.changed) throw changed(this.contract.id);
    });
    const on = (type: string, heard: (event: Event) => unknown) =>
      globalThis.addEventListener?.(type, heard, { signal: this.#listening.signal, capture: true });
    on("visibilitychange", () => document.hidden && leave(core));
    on("pagehide", () => {
      leave(core);
      core.vault?.leave();
      core.own = []; // the others may have them
      core.row.outbox = []; // and may withdraw what is in the outbox
    });
    on("pageshow", (event) => {
      if (!(event as PageTransitionEvent).persisted) return;
      core.vault?.arrive();
      catchUp(core).catch(warn);
    });
  }

  #alone<T>(what: string, work: () => Promise<T>): Promise<T> {
    return this.#core.vault?.alone(what, work) ?? work();
  }
}

/** What an app may want to know when it changes. */
function stateOf(row: Joined): string {
  return JSON.stringify([row.mode, row.open, row.optedOut, row.changed, row.recommendation]);
}
