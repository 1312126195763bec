/**
 * The owner's account: what was promised and what it cost. Entries are added, never taken back.
 *
 * A report is paid for when the decision is made. So whether it is sent can never depend on what was observed. Three
 * limits hold at once: the owner's, over all tasks of this store, and the contract's for its task, over a lifetime and
 * over a window of days.
 */

import { fits, remaining, spentEpsilon } from "../privacy/accounting.js";
import type { Mechanism } from "../privacy/base.js";
import { costOf, plus } from "../privacy/spent.js";
import { budget, type Budget } from "../protocol/budget.js";
import { DAY, type Limit } from "../protocol/contract.js";
import type { Entry } from "./vault.js";

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

/** The ledger as seen by one task. */
export interface Account {
  /** Is one more report within every limit? */
  affords(mechanism: Mechanism, now: number): boolean;
  /** What is written when a report is paid for. A clock that runs backwards frees no budget. */
  entry(mechanism: Mechanism, now: number): Entry;
  /** For the owner to see. */
  balance(mechanism: Mechanism, now: number): Balance;
}

/** `entries` are those of all tasks, and may become more. */
export function accountOf(limits: Limits, limit: Limit, entries: readonly Entry[], joined: string): Account {
  const budgets = budgetsOf(limits, limit);
  const latest = (now: number) => entries.reduce((latest, { hour }) => Math.max(latest, hour), now);
  /** By all tasks, by this task, and in this task's last days: an entry leaves them when the whole of its hour has. */
  const spentBy = (now: number) => {
    const start = limit.window < limit.lifetime ? Math.floor(latest(now)) - limit.window_days * DAY : -Infinity;
    const own = entries.filter((one) => one.joined === joined);
    return [entries, own, own.filter(({ hour }) => hour + HOUR > start)].map(costOf);
  };

  return {
    affords: (mechanism, now) => spentBy(now).every((spent, i) => fits(plus(spent, mechanism.cost()), budgets[i]!)),
    entry: (mechanism, now) => ({
      id: (entries.at(-1)?.id ?? 0) + 1,
      joined,
      ...mechanism.budget,
      cost: mechanism.cost(),
      hour: Math.floor(latest(now) / HOUR) * HOUR,
      fate: "promised",
    }),
    balance(mechanism, now) {
      const by = spentBy(now);
      const [all, task, recent] = by.map((spent, i) => spentEpsilon(spent, budgets[i]!)) as [number, number, number];
      return {
        epsilon: mechanism.budget.epsilon,
        spent: task,
        lifetime: limit.lifetime,
        windowSpent: recent,
        window: limit.window,
        spentByAll: all,
        lifetimeOfAll: limits.lifetime,
        reportsLeft: Math.min(...by.map((spent, i) => remaining(spent, budgets[i]!, mechanism.cost()))),
      };
    },
  };
}
