/** The users of tasks with a model that says how little is known: they try what might be good, and report statistics. */

import { dot } from "../privacy/domains/base.js";
import { shorten } from "../privacy/domains/vectors.js";
import type { Domain, Vector } from "../privacy/domains/index.js";
import type { Link } from "../protocol/links.js";
import type { GeneralizedModel, LinearModel } from "../protocol/offers.js";
import { MEANS } from "../protocol/registry.js";
import { explored } from "./explored.js";
import type { LocalUser } from "./index.js";

/** Reports x x' and y x of the choice. */
export function linearUser(domain: Domain): LocalUser {
  return {
    act: (model, context, chance) => optimisticAction(model as LinearModel, context, chance),
    message: (_model, context, action, reward) => domain.embed(context[action]!, reward),
  };
}

/**
 * Reports one gradient, that of the link's own loss at the public anchor: (g(z) - y) x with z = <x, anchor>. The domain
 * decides what travels and clips it: with `relabelled` also x x' and z x, with `moments` also x x'.
 */
export function generalizedUser(domain: Domain, link: Link): LocalUser {
  return {
    act: (model, context, chance) => optimisticAction(model as LinearModel, context, chance),
    message(model, context, action, reward) {
      const features = context[action]!;
      const predicted = dot(shorten(features, 1), (model as GeneralizedModel).anchor);
      const residual = MEANS[link.name]!(predicted) - reward;
      return domain.embed(features, residual, ...(domain.kind === "relabelled" ? [predicted] : []));
    },
  };
}

/** The action of the highest score, where little is known of it a little higher. */
function optimisticAction(model: LinearModel, context: Vector[], chance: number): number {
  const scores = context.map((row) => {
    const unknown = dot(
      row.map((_, j) => row.reduce((sum, x, i) => sum + x * model.precision[i]![j]!, 0)),
      row,
    );
    return dot(row, model.theta) + model.width * Math.sqrt(Math.max(unknown, 0));
  });
  return explored(scores, model.explore, chance);
}
