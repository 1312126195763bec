/** How an action is chosen, without waiting: by the model that this tab has read, or by one of its tickets. */

import type { ByModel } from "../protocol/contract.js";
import { BadInput, Unreachable } from "../protocol/errors.js";
import type { Action } from "../users/index.js";
import { baselineOf, contextOf, keptOf } from "./answers.js";
import { warn, type Core } from "./core.js";
import { attempt } from "./network.js";
import type { Given } from "./options.js";
import type { Subject } from "./paying.js";
import { fetchAhead, left, takeTicket } from "./permits.js";
import type { Held } from "./vault.js";

/** An action; what was wrong, if anything; and what a report would be about. Without that there is nothing to report. */
export type Made = [action: Action, problem: string, subject?: Subject | undefined];

/** While the task is an apprentice, the app's own choice; for bad input, or without a model, any action. */
export function byModel(core: Core, strict: boolean, fields: Given, baseline: number | string): Made {
  const { model, kept, row, entropy, terms } = core;
  const offers = terms.contract.offers as ByModel;
  const [context, bad] = contextOf(offers, fields);
  if (bad && strict) throw new BadInput(bad);
  if (bad) warn(bad);
  const chance = entropy.below(2 ** 53) / 2 ** 53;
  const action =
    row.mode === "apprentice"
      ? baselineOf(offers, baseline, context.length)
      : bad || !model
        ? Math.floor(chance * context.length)
        : terms.user.act(model, context, chance);
  const problem = bad || (model ? "" : "there is no model yet and the server does not answer");
  return [action, problem, model && { model: kept!, raw: keptOf(model, context, action) }];
}

/** The recommendation of a task that knows enough; the ticket's action; or without any, what was offered last. */
export function byTicket(core: Core, ticket: Held | undefined): Made {
  const { recommendation } = core.row;
  if (recommendation !== undefined) return [recommendation, ""];
  if (!ticket) return [core.lastOffer ?? anyArm(core), "there is no ticket at hand"];
  const raw = (core.lastOffer = ticket.action!);
  return [raw, "", { raw, ticket }];
}

/** From another tab that was closed, or from the server. */
export async function nextTicket(core: Core): Promise<Held | undefined> {
  if (core.row.recommendation === undefined && !(await left(core))) {
    await attempt(core, () => fetchAhead(core, core.wanted || 1));
  }
  return takeTicket(core);
}

function anyArm({ terms, entropy }: Core): number {
  const { actions } = terms.contract.offers;
  if (actions.length) return entropy.below(actions.length);
  throw new Unreachable("the server does not answer, and has not offered any point yet");
}
