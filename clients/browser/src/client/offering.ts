/** What depends on whether a server chooses for each person, an arm or a point, or a device by a model. */

import type { Mechanism } from "../privacy/base.js";
import type { Domain, Vector } from "../privacy/domains/index.js";
import type { Contract } from "../protocol/contract.js";
import { lookUp } from "../protocol/registry.js";
import type { Returned } from "../protocol/wire.js";
import type { Action, LocalUser } from "../users/index.js";
import type { Answered } from "./answers.js";
import { arms } from "./arms.js";
import type { Core, Known } from "./core.js";
import type { Given } from "./options.js";
import type { Subject } from "./paying.js";
import type { Terms } from "./terms.js";

/** An action; what was wrong, if anything; and what a report would be about. Without that there is nothing to report. */
export type Made = [action: Action, problem: string, subject?: Subject | undefined];

/** Do this while no other tab does the same; what fails is logged. */
export type First = <T>(work: () => Promise<T>) => Promise<T | undefined>;

/** The problem of a choice without any model. */
export const NO_MODEL = "no model yet";

/** What tasks with arms, with points and with a model do each in their way. */
export interface Offering {
  /** Permits or tickets to keep ready where the app does not say. */
  readonly ahead: number;
  /** Do the parts of the offers fit together? */
  consistent(contract: Contract): unknown;
  /** Who chooses and answers, with messages of this domain. */
  userFor(contract: Contract, domain: Domain): LocalUser;
  /** A choice, for which one may wait. */
  decide(core: Core, first: First, fields: Given, baseline: number | string): Promise<Made>;
  /** A choice at once. */
  decideNow(core: Core, fields: Given, baseline: number | string): Made;
  /** So many permits or tickets; raises when that fails. */
  fetchAhead(core: Core, number: number): Promise<void>;
  /** Of so many that are missing, how many to fetch now. */
  dueOf(core: Core, number: number): number | Promise<number>;
  /** Fetch what the status says is new. Is the status needed while the task is open? */
  update(core: Core, version: string): Promise<boolean>;
  /** For so many seconds from a decision on its permit or ticket must be valid. */
  validFor(contract: Contract): number;
  /** One per gate: through them the report of this decision is drawn. */
  mechanismsFor(terms: Terms, answered: Answered): readonly Mechanism[];
  /** What a report brings back. */
  naming(answered: Answered): Returned;
  /** What is made private of a reward; nothing, or `BadInput`, where no message can be formed. */
  messageFor(core: Known, answered: Answered, reward: unknown): Vector | undefined;
}

/** By what actions are. `features.js` and `learners.js` add those that they bring. */
export const OFFERINGS: Record<string, Offering> = { arms };

/** What this contract offers. */
export function offeringOf({ offers }: Contract): Offering {
  return lookUp("offers", offers.kind === "model" ? "model" : offers.dimension > 0 ? "points" : "arms", OFFERINGS);
}
