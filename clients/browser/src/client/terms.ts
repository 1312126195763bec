/**
 * What a server sends, checked: is its contract one that the owner accepts? Is its offer one that can be chosen by?
 * Everything is recomputed here; nothing is believed.
 */

import { fits } from "../privacy/accounting.js";
import type { Mechanism } from "../privacy/base.js";
import type { Vector } from "../privacy/domains/index.js";
import { mechanismsOf } from "../privacy/mechanisms.js";
import type { Budget } from "../protocol/budget.js";
import { contractFrom, DAY, digestOf, dimensionOf } from "../protocol/contract.js";
import type { ByTicket, Contract } from "../protocol/contract.js";
import { ContractRefused, must, WireError } from "../protocol/errors.js";
import { lookUp } from "../protocol/registry.js";
import { array, read, whole } from "../protocol/strict.js";
import { userOf, type Action, type LocalUser } from "../users/index.js";
import { EXTENSIONS, type Measured, type Measuring } from "./extensions.js";
import { budgetsOf, type Limits } from "./ledger.js";
import { withParts } from "./parts.js";

const YEAR = 366 * DAY;

/** An accepted contract, and what a device needs to keep it. */
export interface Terms {
  readonly contract: Contract;
  readonly digest: string;
  readonly user: LocalUser;
  /** One per gate, each verified. */
  readonly mechanisms: readonly Mechanism[];
  /** The one that this device answers through. */
  readonly gate: number;
  readonly mechanism: Mechanism;
  /** Which decisions measure; nothing where nothing is held out. */
  readonly measuring: Measuring | undefined;
}

/** The terms on which this device answers the contract of this task, or `ContractRefused`. */
export async function accept(body: Uint8Array, task: string, limits: Limits, epsilon?: number): Promise<Terms> {
  return withParts(async () => {
    const contract = contractFrom(body);
    must(contract.id === task, WireError, `the id ${task}`, contract.id);
    check(contract);
    const { offers } = contract;
    const mechanisms = mechanismsOf(contract);
    const kind = offers.kind === "model" ? offers.model : offers.slopes ? "slope" : "scalar";
    const user = userOf(kind, mechanisms[0]!.domain, offers.kind === "model" ? offers.link : null);
    const gate = gateOf(contract.gates, limits, epsilon);
    const mechanism = mechanisms[gate]!;
    const [ofAll, , ofWindow] = budgetsOf(limits, contract.limit);
    for (const limit of [ofAll, ofWindow]) {
      must(fits(mechanism.cost(), limit), WireError, `one report within ${limit.epsilon}`, mechanism.budget.epsilon);
    }
    const measuring = Object.keys(contract.extensions)
      .map((name) => lookUp("extension", name, EXTENSIONS)(contract, mechanisms))
      .find(Boolean);
    return { contract, digest: await digestOf(body), user, mechanisms, gate, mechanism, measuring };
  }).catch((error: Error) => {
    throw new ContractRefused(`task "${task}" cannot be answered: ${error.message}`, { cause: error });
  });
}

/** What the decision with this permit measures; nothing where it teaches. */
export function measuredBy(terms: Terms, permit: { coin: Uint8Array } | undefined): Measured | undefined {
  return permit && terms.measuring?.(permit.coin);
}

/** Is the last day of this task over, in UTC? */
export function expired(contract: Contract, now: number): boolean {
  return new Date(now * 1000).toISOString().slice(0, 10) > contract.expires;
}

/** What every honest contract has; a server that sends something else is not followed. */
function check(contract: Contract): void {
  const { offers, domain, reward, delay, limit, gates } = contract;
  const rules = {
    offers:
      offers.kind === "model"
        ? Object.keys(offers.fields).length > 0 &&
          offers.actions.length > 0 !== offers.candidates > 0 &&
          dimensionOf(offers) === domain["dimension"]
        : offers.actions.length > 0 !== offers.dimension > 0 && !(offers.actions.length && offers.slopes),
    reward:
      reward.low < reward.high &&
      reward.low <= reward.default &&
      reward.default <= reward.high &&
      reward.unit_low < reward.unit_high &&
      0 <= reward.wait &&
      reward.wait < YEAR,
    delay: 0 <= delay && delay < YEAR,
    limit: limit.window_days >= 1,
    gates: gates.length > 0,
  };
  for (const [part, fits] of Object.entries(rules)) {
    must(fits, WireError, `consistent ${part}`, JSON.stringify(contract[part as keyof typeof rules]));
  }
}

/** The gate of the largest epsilon within the owner's limits, and within `epsilon` where it is given. */
function gateOf(gates: readonly Budget[], limits: Limits, epsilon = Infinity): number {
  const most = Math.min(epsilon, limits.epsilon);
  const allowed = gates.map((gate) => (gate.epsilon <= most && gate.delta <= limits.delta ? gate.epsilon : 0));
  const largest = Math.max(...allowed);
  const asked = gates.map(({ epsilon, delta }) => `${epsilon}, ${delta}`).join(" or ");
  must(largest > 0, WireError, `a task that asks for at most epsilon ${most}, delta ${limits.delta}`, asked);
  return allowed.indexOf(largest);
}

/** The server's choice: the number of an arm, a point, or the points to try for a message of so many numbers. */
export function actionFrom(sent: unknown, offers: ByTicket, numbers: number): Action {
  if (!offers.actions.length) {
    return array<Action>(...(offers.slopes ? [2 * numbers] : []), offers.dimension)(sent, "an action");
  }
  must(Object.hasOwn(offers.actions, whole(sent, "an arm")), WireError, `one of ${offers.actions.length} arms`, sent);
  return sent as number;
}

/** An arm, the numbers of several arms, or a point. */
export function recommendationFrom(sent: unknown, offers: ByTicket): number | Vector {
  if (!offers.actions.length) return array<Vector>(offers.dimension)(sent, "a recommendation");
  const arm = (one: unknown) => actionFrom(one, offers, 0) as number;
  return Array.isArray(sent) ? read([arm], sent, "") : arm(sent);
}
