/** Users of tasks with a model: some need a link. */

import type { Domain } from "../privacy/domains/index.js";
import { ConfigurationError, must } from "../protocol/errors.js";
import type { Link } from "../protocol/links.js";
import { lookUp } from "../protocol/registry.js";
import { USERS, type LocalUser } from "./index.js";

/** The user of this kind, with messages of this domain. */
export function userOf(kind: string, domain: Domain, link: Link | null): LocalUser {
  const user = lookUp("user", kind, USERS);
  must(user.length === (link ? 2 : 1), ConfigurationError, user.length > 1 ? "a link" : "no link", link?.name);
  return user(domain, link!);
}
