/** Points: the server chooses one for each person, or several to try. Part of `learners.js`. */

import type { Vector } from "../privacy/domains/index.js";
import { array } from "../protocol/arrays.js";
import type { ByTicket, Contract } from "../protocol/contract.js";
import { Unreachable } from "../protocol/errors.js";
import type { Action } from "../users/index.js";
import { slopeMessage } from "../users/slope.js";
import { unitOf } from "./answers.js";
import { byTickets } from "./tickets.js";

const offersOf = ({ offers }: Contract) => offers as ByTicket;

export const points = byTickets({
  consistent: (contract) => !contract.offers.actions.length,
  actionFrom(core, sent) {
    const { slopes, dimension } = offersOf(core.contract);
    return array<Action>(...(slopes ? [2 * core.mechanism.domain.size] : []), dimension)(sent, "an action");
  },
  recommendationFrom: (core, sent) => array<Vector>(offersOf(core.contract).dimension)(sent, "a recommendation"),
  anyAction() {
    throw new Unreachable("no point was offered yet");
  },
  messageFor({ mechanism: { domain }, contract }, { raw }, reward) {
    if (!offersOf(contract).slopes) return domain.embed(unitOf(contract, reward));
    const tried = raw as Vector[];
    const units = rewardsOf(reward, tried.length).map((one) => unitOf(contract, one));
    return slopeMessage(domain, tried, units);
  },
});

/** One per point that was tried; all are missing where one is. */
function rewardsOf(given: unknown, points: number): unknown[] {
  const rewards = Array.isArray(given) ? Array.from(given) : [];
  const all = rewards.length === points && rewards.every((one) => typeof one === "boolean" || Number.isFinite(one));
  return all ? rewards : Array(points).fill(undefined);
}
