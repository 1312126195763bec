/** The user of tasks with tickets: it plays what the server chose, and reports the reward. */

import type { Domain } from "../privacy/domains/index.js";
import type { LocalUser } from "./index.js";

/** Algorithm 1 of the paper, on the person's side. */
export function scalarUser(domain: Domain): LocalUser {
  return {
    act: (offered) => offered as number,
    message: (_offered, _context, _action, reward) => domain.embed(reward),
  };
}
