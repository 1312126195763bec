/** Arms: actions with names, of which the server chooses one for each person. */

import type { ByTicket } from "../protocol/contract.js";
import { must, WireError } from "../protocol/errors.js";
import { read, whole } from "../protocol/strict.js";
import { unitOf } from "./answers.js";
import type { Core } from "./core.js";
import { byTickets } from "./tickets.js";

export const arms = byTickets({
  consistent({ offers }) {
    const { actions, slopes } = offers as ByTicket;
    return actions.length > 0 && !slopes;
  },
  actionFrom: armFrom,
  /** An arm, or the numbers of several. */
  recommendationFrom(core, sent) {
    return Array.isArray(sent) ? read([(one) => armFrom(core, one)], sent, "") : armFrom(core, sent);
  },
  anyAction: ({ entropy, contract }) => entropy.below(contract.offers.actions.length),
  messageFor: ({ mechanism, contract }, _answered, reward) => mechanism.domain.embed(unitOf(contract, reward)),
});

function armFrom({ contract }: Core, sent: unknown): number {
  const { actions } = contract.offers;
  must(Object.hasOwn(actions, whole(sent, "an arm")), WireError, `one of ${actions.length} arms`, sent);
  return sent as number;
}
