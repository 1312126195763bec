/** The device half, the only place with raw data. */

import type { Domain, Vector } from "../privacy/domains/index.js";
import { ConfigurationError, must } from "../protocol/errors.js";
import type { Link } from "../protocol/links.js";
import type { Model } from "../protocol/offers.js";
import { lookUp } from "../protocol/registry.js";
import { scalarUser } from "./byTicket.js";
import { directedUser } from "./directed.js";

/** The number of an action, a point, or points to try. */
export type Action = number | Vector | Vector[];

/** One person with a device. `context` has one row of features per action. */
export interface LocalUser {
  /** The action, chosen locally; `chance` is a uniform number in [0, 1). */
  act(offered: Model | Action, context: Vector[], chance: number): number;
  /** What is reported of a reward (larger is better), before noise; bounded by a domain's `embed`. */
  message(offered: Model | Action, context: Vector[], action: Action, reward: number | Vector): Vector;
}

/** `learners.js` adds those that it brings. */
export const USERS: Record<string, (domain: Domain, link: Link) => LocalUser> = {
  scalar: scalarUser,
  directed: directedUser,
};

/** The user of this kind, with messages of this domain. */
export function userOf(kind: string, domain: Domain, link: Link | null): LocalUser {
  const user = lookUp("user", kind, USERS);
  must(user.length === (link ? 2 : 1), ConfigurationError, user.length > 1 ? "a link" : "no link", link?.name);
  return user(domain, link!);
}
