/** The user of tasks with features of any scale: it chooses on the device, and reports a direction. */

import { clip, dot, norm } from "../privacy/domains/base.js";
import { times, unit } from "../privacy/domains/vectors.js";
import type { Domain, Vector } from "../privacy/domains/index.js";
import { rangeOf, type Link } from "../protocol/links.js";
import type { DirectedModel } from "../protocol/offers.js";
import { MEANS } from "../protocol/registry.js";
import { explored } from "./explored.js";
import type { LocalUser } from "./index.js";

/** Reports the direction of the features and how wrong the anchor was. */
export function directedUser(domain: Domain, link: Link): LocalUser {
  return {
    act(model, context, chance) {
      const { theta, anchor, explore, by_anchor } = model as DirectedModel;
      const by = chance < explore + by_anchor ? anchor : theta;
      return explored(
        context.map((row) => dot(row, by)),
        explore,
        chance,
      );
    },
    message(model, context, action, reward) {
      const { theta, anchor, clip: most, base, contrast } = model as DirectedModel;
      const features = context[action]!;
      const [low, high] = rangeOf(link);
      // With a base above 0, what looks better than the best is set right in full.
      const expected = clip(MEANS[link.name]!(base + dot(features, anchor)), low, high + 2 * Math.max(base, 0));
      const reported = contrast > 0 ? contrasted(context, action, theta, most / ((high - low) / 2)) : features;
      return domain.embed(reported, reward - expected, most);
    },
  };
}

/** What is left at least of a part that `contrasted` makes quieter. */
const LEAST = 0.1;
/** Below this a clip is small, in units of half the range of rewards. */
const SMALL = 0.6;

/** The features of the choice, with two parts quieter that say little about which action is best. */
export function contrasted(context: Vector[], action: number, theta: Vector, most: number): Vector {
  const largest = Math.max(...context.flat().map(Math.abs), 1e-300);
  const rows = context.map((row) => row.map((x) => x / largest));
  const common = theta.map((_, i) => rows.reduce((sum, row) => sum + row[i]!, 0) / rows.length);
  const features = beside(minus(rows[action]!, common), common, LEAST);
  const towards = unit(theta);
  const along = times(towards, dot(features, towards));
  return beside(minus(features, along), along, clip(1 - most / SMALL, LEAST, 1));
}

function minus(a: Vector, b: Vector): Vector {
  return a.map((x, i) => x - b[i]!);
}

/** The rest and the part, which is no longer than the rest is in one of its directions; `least` of it is left. */
function beside(rest: Vector, part: Vector, least: number): Vector {
  const each = norm(rest) / Math.sqrt(Math.max(rest.length - 1, 1));
  const share = clip(each / Math.max(norm(part), 1e-300), least, 1);
  return rest.map((x, i) => x + part[i]! * share);
}
