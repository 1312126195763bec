/** Users of tasks with a model: some need a link. */

import type { Domain } from "../privacy/domains/index.js";
import { ConfigurationError, must } from "../protocol/errors.js";
import type { ByModel } from "../protocol/byModel.js";
import { lookUp } from "../protocol/registry.js";
import { USERS, type LocalUser } from "./index.js";

/** The kind of user that these offers ask for, by the domain of its messages. */
export function userOf({ model, link }: Pick<ByModel, "model" | "link">): (domain: Domain) => LocalUser {
  const user = lookUp("user", model, USERS);
  must(user.length === (link ? 2 : 1), ConfigurationError, user.length > 1 ? "a link" : "no link", link?.name);
  return (domain) => user(domain, link!);
}
