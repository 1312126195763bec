/** Tasks with tickets: the server chooses for each person, an arm or a point. */

import { offers as wireOffers, LARGEST_OFFERS } from "../protocol/wire.js";
import type { Action } from "../users/index.js";
import type { Core } from "./core.js";
import { received } from "./http.js";
import { refill } from "./network.js";
import type { Made, Offering } from "./offering.js";
import { acquire, left, takeOwn } from "./permits.js";
import type { Held } from "./vault.js";

/** What differs between arms and points. */
export interface Choosing extends Pick<Offering, "consistent" | "messageFor"> {
  /** The action that a server has sent, checked. */
  actionFrom(core: Core, sent: unknown): Action;
  /** What it recommends once the task knows enough, checked. */
  recommendationFrom(core: Core, sent: unknown): Action;
  /** The action where nothing was ever offered. */
  anyAction(core: Core): Action;
}

export function byTickets(choosing: Choosing): Offering {
  return {
    ...choosing,
    ahead: 0,
    decide: async (core, first) => played(core, takeOwn(core) ?? (await first(() => nextTicket(core)))),
    decideNow: (core) => played(core, takeOwn(core)),
    fetchAhead: (core, number) =>
      acquire(core, "/offers", Math.min(number, LARGEST_OFFERS), (answer) => {
        const { offers, done, recommendation } = received(answer, wireOffers);
        const tickets = offers.map(({ ticket, action, expires }) => {
          return { permit: ticket, action: choosing.actionFrom(core, action), expires };
        });
        const known = done && { recommendation: choosing.recommendationFrom(core, recommendation) };
        return [tickets, { open: true, ...known }];
      }),
    validFor: () => 0,
    naming: ({ permit: ticket, nonce }) => ({ ticket, nonce }),
  };

  /** The recommendation of a task that knows enough; the ticket's action; or without any, what was offered last. */
  function played(core: Core, ticket: Held | undefined): Made {
    if (core.row.recommendation !== undefined) return [core.row.recommendation, ""];
    if (!ticket) return [core.lastOffer ?? choosing.anyAction(core), "no ticket at hand"];
    const raw = (core.lastOffer = ticket.action!);
    return [raw, "", { raw, own: ticket }];
  }
}

/** From another tab that was closed, or from the server. */
async function nextTicket(core: Core): Promise<Held | undefined> {
  if (core.row.recommendation === undefined && !(await left(core))) {
    await refill(core, core.wanted || 1);
  }
  return takeOwn(core);
}
