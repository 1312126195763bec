/** What depends on whether a server chooses for each person, an arm or a point, or a device by a model. */

import type { Vector } from "../privacy/domains/index.js";
import type { Contract } from "../protocol/contract.js";
import { lookUp } from "../protocol/registry.js";
import type { Returned } from "../protocol/wire.js";
import type { Action } from "../users/index.js";
import type { Answered } from "./answers.js";
import { arms } from "./arms.js";
import type { Core, Known } from "./core.js";
import type { Given } from "./options.js";
import type { Subject } from "./paying.js";

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
  /** Do the parts of the offers fit together? May raise instead. */
  consistent(contract: Contract): unknown;
  /** A choice, for which one may wait. */
  decide(core: Core, first: First, fields: Given, baseline: number | string): Promise<Made>;
  /** A choice at once. */
  decideNow(core: Core, fields: Given, baseline: number | string): Made;
  /** So many permits or tickets; raises when that fails. */
  fetchAhead(core: Core, number: number): Promise<void>;
  /** How many to fetch now if any are missing; all of them where it is left out. */
  dueOf?(core: Core): Promise<number>;
  /** Fetch the model of this version; left out where there is none, and then the status is seldom asked for. */
  update?(core: Core, version: string): Promise<void>;
  /** For so many seconds from a decision on its permit or ticket must be valid. */
  validFor(contract: Contract): number;
  /** What a report brings back. */
  naming(answered: Answered): Returned;
  /** What is made private of a reward that teaches; nothing, or `BadInput`, where no message can be formed. */
  messageFor(core: Known, answered: Answered, reward: unknown): Vector | undefined;
}

/** By what actions are. `features.js` and `learners.js` add those that they bring. */
export const OFFERINGS: Record<string, Offering> = { arms };

/** What this contract offers. */
export function offeringOf({ offers }: Contract): Offering {
  return lookUp("offers", offers.kind === "model" ? "model" : offers.dimension > 0 ? "points" : "arms", OFFERINGS);
}
