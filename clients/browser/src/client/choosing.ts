/** How an action is chosen, without waiting: by the model that this tab has read, or by one of its tickets. */

import type { ByModel } from "../protocol/contract.js";
import { BadInput, Unreachable } from "../protocol/errors.js";
import type { Action } from "../users/index.js";
import { baselineOf, contextOf, keptOf } from "./answers.js";
import { warn, type Core } from "./core.js";
import { refill } from "./network.js";
import type { Given } from "./options.js";
import { reportingOf, type Subject } from "./paying.js";
import { left, takeOwn } from "./permits.js";
import { measuredBy } from "./terms.js";
import type { Held } from "./vault.js";

/** An action; what was wrong, if anything; and what a report would be about. Without that there is nothing to report. */
export type Made = [action: Action, problem: string, subject?: Subject | undefined];

/** The problem of a choice without any model. */
export const NO_MODEL = "no model yet";

/**
 * For an apprentice and in a holdout the app's own choice; for bad input, or without a model, any action. In a task with a
 * holdout the permit is taken first: it says what the report will be for.
 */
export function byModel(core: Core, strict: boolean, fields: Given, baseline: number | string): Made {
  const { model, terms } = core;
  const offers = terms.contract.offers as ByModel;
  const [context, bad] = contextOf(offers, fields);
  if (bad && strict) throw new BadInput(bad);
  if (bad) warn(bad);
  const chance = core.entropy.below(2 ** 53) / 2 ** 53;
  const apprentice = core.row.mode === "apprentice";
  const own = terms.measuring && model && reportingOf(core) === "on" ? takeOwn(core) : undefined;
  const measured = measuredBy(terms, own);
  const shown = apprentice || terms.measuring ? baselineOf(offers, baseline, context.length) : 0;
  const action =
    apprentice || measured?.baseline
      ? shown
      : bad || !model
        ? Math.floor(chance * context.length)
        : terms.user.act(model, context, chance);
  if (!model) return [action, bad || NO_MODEL];
  const raw = measured ? [] : keptOf(model, context, action);
  return [action, bad, { model: core.kept!, raw, own, nothing: apprentice && measured?.baseline === false }];
}

/** The recommendation of a task that knows enough; the ticket's action; or without any, what was offered last. */
export function byTicket(core: Core, ticket: Held | undefined): Made {
  if (core.row.recommendation !== undefined) return [core.row.recommendation, ""];
  if (!ticket) return [core.lastOffer ?? anyArm(core), "no ticket at hand"];
  const raw = (core.lastOffer = ticket.action!);
  return [raw, "", { raw, own: ticket }];
}

/** From another tab that was closed, or from the server. */
export async function nextTicket(core: Core): Promise<Held | undefined> {
  if (core.row.recommendation === undefined && !(await left(core))) {
    await refill(core, core.wanted || 1);
  }
  return takeOwn(core);
}

function anyArm(core: Core): number {
  const { length } = core.terms.contract.offers.actions;
  if (length) return core.entropy.below(length);
  throw new Unreachable("no point was offered yet");
}
