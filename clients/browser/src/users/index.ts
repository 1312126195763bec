/** The device half, the only place with raw data. */

import type { Domain, Vector } from "../privacy/domains/index.js";
import type { Link } from "../protocol/links.js";
import type { Model } from "../protocol/offers.js";

/** The number of an action, a point, or points to try. */
export type Action = number | Vector | Vector[];

/** One person with a device. `context` has one row of features per action. */
export interface LocalUser {
  /** The action, chosen locally; `chance` is a uniform number in [0, 1). */
  act(offered: Model, context: Vector[], chance: number): number;
  /** What is reported of a reward (larger is better), before noise; bounded by a domain's `embed`. */
  message(offered: Model, context: Vector[], action: number, reward: number): Vector;
}

/** `features.js` and `learners.js` add those that they bring. */
export const USERS: Record<string, (domain: Domain, link: Link) => LocalUser> = {};
