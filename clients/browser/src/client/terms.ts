/** Is a server's contract one that the owner accepts? Everything is recomputed here; nothing is believed. */

import { fits } from "../privacy/accounting.js";
import type { Mechanism } from "../privacy/base.js";
import { mechanismsOf } from "../privacy/mechanisms.js";
import type { Budget } from "../protocol/budget.js";
import { contractFrom, digestOf, type Contract } from "../protocol/contract.js";
import { ContractRefused, must, WireError } from "../protocol/errors.js";
import { lookUp } from "../protocol/registry.js";
import { EXTENSIONS, type Measuring } from "./extensions.js";
import { budgetsOf, type Limits } from "./ledger.js";
import { offeringOf, type Offering } from "./offering.js";
import { withParts } from "./parts.js";

/** An accepted contract, and what a device needs to keep it. */
export interface Terms {
  readonly contract: Contract;
  readonly digest: string;
  readonly offering: Offering;
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
    const offering = offeringOf(contract);
    must(offering.consistent(contract), WireError, "consistent offers", JSON.stringify(contract.offers));
    const mechanisms = mechanismsOf(contract);
    const gate = gateOf(contract.gates, limits, epsilon);
    const mechanism = mechanisms[gate]!;
    const [ofAll, , ofWindow] = budgetsOf(limits, contract.limit);
    for (const limit of [ofAll, ofWindow]) {
      must(fits(mechanism.cost(), limit), WireError, `one report within ${limit.epsilon}`, mechanism.budget.epsilon);
    }
    const measuring = Object.keys(contract.extensions)
      .map((name) => lookUp("extension", name, EXTENSIONS)(contract, mechanisms))
      .find(Boolean);
    return { contract, digest: await digestOf(body), offering, mechanisms, gate, mechanism, measuring };
  }).catch((error: Error) => {
    throw new ContractRefused(`task "${task}" cannot be answered: ${error.message}`, { cause: error });
  });
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
