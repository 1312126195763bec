/**
 * The owner's account: what was promised and what it cost. Entries are added, never taken back.
 *
 * A report is paid for when the decision is made. So whether it is sent can never depend on what was observed. Three
 * limits hold at once: the owner's, over all tasks of this store, and the contract's for its task, over a lifetime and
 * over a window of days.
 */

import { costOf, Ledger } from "../privacy/accounting.js";
import type { Mechanism } from "../privacy/base.js";
import { NOTHING, plus, type Spent } from "../privacy/spent.js";
import { budget } from "../protocol/budget.js";
import { DAY, type Limit } from "../protocol/contract.js";

const HOUR = 3600;

/** What the owner of a device allows, whatever a task asks for. */
export interface Limits {
  /** Of one report. */
  readonly epsilon: number;
  /** Of one report; 0 refuses tasks with Gaussian noise. */
  readonly delta: number;
  /** Of all reports to all tasks together. */
  readonly lifetime: number;
  readonly lifetimeDelta: number;
}

/** The limits that hold where the owner says nothing else, checked. */
export function limitsOf(given: Partial<Limits> = {}): Limits {
  const limits = { epsilon: 4, delta: 0, lifetime: 40, lifetimeDelta: 0, ...given };
  budget(limits.epsilon, limits.delta);
  budget(limits.lifetime, limits.lifetimeDelta);
  return limits;
}

/** What was spent, what may be, and how many more reports that allows. */
export interface Balance {
  /** Of one report, as this device answers. */
  readonly epsilon: number;
  /** By this task; infinite where Gaussian noise meets a limit with delta 0. */
  readonly spent: number;
  readonly lifetime: number;
  readonly windowSpent: number;
  readonly window: number;
  /** By every task of this store. */
  readonly spentByAll: number;
  readonly lifetimeOfAll: number;
  readonly reportsLeft: number;
}

/** The ledger as seen by one task. Entries are only added, so each is entered once. */
export class Account {
  private all = NOTHING;
  private task = NOTHING;
  private latest = 0;
  private readonly byHour = new Map<number, Spent>();

  constructor(
    private readonly limits: Limits,
    private readonly limit: Limit,
  ) {}

  /** An entry of the ledger: its cost, its hour, and whether it is of this task. */
  enter(cost: Spent, hour: number, own: boolean): void {
    this.all = plus(this.all, cost);
    this.latest = Math.max(this.latest, hour);
    if (!own) return;
    this.task = plus(this.task, cost);
    this.byHour.set(hour, plus(this.byHour.get(hour) ?? NOTHING, cost));
  }

  /** Is one more report within every limit? */
  affords(mechanism: Mechanism, now: number): boolean {
    const cost = costOf(mechanism);
    return this.ledgers(now).every((ledger) => new Ledger(ledger.limit, plus(ledger.spent, cost)).fits());
  }

  /** The hour that an entry made now is written with. A clock that runs backwards frees no budget. */
  hour(now: number): number {
    return Math.floor(this.time(now) / HOUR) * HOUR;
  }

  /** For the owner to see. */
  balance(mechanism: Mechanism, now: number): Balance {
    const ledgers = this.ledgers(now);
    const [everything, lifetime, window] = ledgers;
    return {
      epsilon: mechanism.budget.epsilon,
      spent: lifetime.spentEpsilon(),
      lifetime: lifetime.limit.epsilon,
      windowSpent: window.spentEpsilon(),
      window: window.limit.epsilon,
      spentByAll: everything.spentEpsilon(),
      lifetimeOfAll: everything.limit.epsilon,
      reportsLeft: Math.min(...ledgers.map((ledger) => ledger.remaining(mechanism))),
    };
  }

  /** Of all tasks, of this task, and of this task's last days. */
  private ledgers(now: number): [Ledger, Ledger, Ledger] {
    const { lifetime, lifetimeDelta } = this.limits;
    const delta = this.limit.lifetime_delta;
    return [
      new Ledger({ epsilon: lifetime, delta: lifetimeDelta }, this.all),
      new Ledger({ epsilon: this.limit.lifetime, delta }, this.task),
      new Ledger({ epsilon: this.limit.window, delta }, this.recent(now)),
    ];
  }

  private time(now: number): number {
    return Math.max(Math.floor(now), this.latest);
  }

  /** An entry leaves the window when the whole of its hour has. */
  private recent(now: number): Spent {
    if (this.limit.window >= this.limit.lifetime) return this.task;
    const start = this.time(now) - this.limit.window_days * DAY;
    return [...this.byHour].reduce((sum, [hour, spent]) => (hour + HOUR > start ? plus(sum, spent) : sum), NOTHING);
  }
}
