/** What is reported in tasks that try several points: how the reward changes between them. */

import { norm } from "../privacy/domains/base.js";
import type { Domain, Vector } from "../privacy/domains/index.js";

/**
 * Algorithm 2 of the paper, on the person's side. The points are pairs: the first half and the second half of them.
 *
 * What is made private is the slope of the reward, (f(a) - f(b)) / ||a - b||, one number a pair, clipped to the declared
 * steepness; never the two rewards by themselves.
 */
export function slopeMessage(domain: Domain, points: Vector[], rewards: Vector): Vector {
  const pairs = Math.floor(points.length / 2);
  const slopes = points.slice(0, pairs).map((point, i) => {
    const apart = point.map((x, j) => x - points[pairs + i]![j]!);
    return (rewards[i]! - rewards[pairs + i]!) / Math.max(norm(apart), 1e-300);
  });
  return domain.embed(domain.kind === "interval" ? slopes[0]! : slopes);
}
