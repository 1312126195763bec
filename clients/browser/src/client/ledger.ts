/**
 * The owner's account: what was promised and what it cost. Entries are added, never taken back.
 *
 * A report is paid for when the decision is made. So whether it is sent can never depend on what was observed. Three
 * limits hold at once: the owner's, over all tasks of this store, and the contract's for its task, over a lifetime and
 * over a window of days.
 */

import { fits, remaining, spentEpsilon } from "../privacy/accounting.js";
import type { Mechanism } from "../privacy/base.js";
import { NOTHING, plus, type Spent } from "../privacy/spent.js";
import { budget, type Budget } from "../protocol/budget.js";
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

/** The owner's limits, checked; those that are left out are Python's. */
export function limitsOf(given: Partial<Limits> = {}): Limits {
  const limits = { epsilon: 4, delta: 0, lifetime: 40, lifetimeDelta: 0, ...given };
  budget(limits.epsilon, limits.delta);
  budget(limits.lifetime, limits.lifetimeDelta);
  return limits;
}

/** What all tasks, this task, and this task's last days may cost. */
export function budgetsOf(limits: Limits, limit: Limit): [Budget, Budget, Budget] {
  const delta = limit.lifetime_delta;
  return [
    { epsilon: limits.lifetime, delta: limits.lifetimeDelta },
    { epsilon: limit.lifetime, delta },
    { epsilon: limit.window, delta },
  ];
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
  #all = NOTHING;
  #task = NOTHING;
  #latest = 0;
  #byHour = new Map<number, Spent>();
  #budgets: [Budget, Budget, Budget];
  #limit: Limit;

  constructor(limits: Limits, limit: Limit) {
    this.#budgets = budgetsOf(limits, limit);
    this.#limit = limit;
  }

  /** An entry of the ledger: its cost, its hour, and whether it is of this task. */
  enter(cost: Spent, hour: number, own: boolean): void {
    this.#all = plus(this.#all, cost);
    this.#latest = Math.max(this.#latest, hour);
    if (!own) return;
    this.#task = plus(this.#task, cost);
    this.#byHour.set(hour, plus(this.#byHour.get(hour) ?? NOTHING, cost));
  }

  /** Is one more report within every limit? */
  affords(mechanism: Mechanism, now: number): boolean {
    return this.#spent(now).every((spent, i) => fits(plus(spent, mechanism.cost()), this.#budgets[i]!));
  }

  /** The hour that an entry made now is written with. A clock that runs backwards frees no budget. */
  hour(now: number): number {
    return Math.floor(Math.max(now, this.#latest) / HOUR) * HOUR;
  }

  /** For the owner to see. */
  balance(mechanism: Mechanism, now: number): Balance {
    const [of, by] = [this.#budgets, this.#spent(now)];
    const [all, task, recent] = by.map((spent, i) => spentEpsilon(spent, of[i]!)) as [number, number, number];
    return {
      epsilon: mechanism.budget.epsilon,
      spent: task,
      lifetime: of[1].epsilon,
      windowSpent: recent,
      window: of[2].epsilon,
      spentByAll: all,
      lifetimeOfAll: of[0].epsilon,
      reportsLeft: Math.min(...by.map((spent, i) => remaining(spent, of[i]!, mechanism.cost()))),
    };
  }

  /** By all tasks, by this task, and in this task's last days: an entry leaves these when the whole of its hour has. */
  #spent(now: number): Spent[] {
    const start = Math.floor(Math.max(now, this.#latest)) - this.#limit.window_days * DAY;
    let recent = NOTHING;
    for (const [hour, spent] of this.#byHour) if (hour + HOUR > start) recent = plus(recent, spent);
    return [this.#all, this.#task, this.#limit.window >= this.#limit.lifetime ? this.#task : recent];
  }
}
