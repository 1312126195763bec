/** The user of tasks that try several points: it plays what the server chose, and reports how the reward changes. */

import { norm } from "../privacy/domains/base.js";
import type { Domain, Vector } from "../privacy/domains/index.js";
import type { LocalUser } from "./index.js";

/**
 * Algorithm 2 of the paper, on the person's side. The points are pairs: the first half and the second half of them.
 *
 * What is made private is the slope of the reward, (f(a) - f(b)) / ||a - b||, one number a pair, clipped to the declared
 * steepness; never the two rewards by themselves.
 */
export function slopeUser(domain: Domain): LocalUser {
  return {
    act: (offered) => offered as number,
    message(_offered, _context, points, rewards) {
      const [tried, given] = [points as Vector[], rewards as Vector];
      const pairs = Math.floor(tried.length / 2);
      const slopes = tried.slice(0, pairs).map((point, i) => {
        const apart = point.map((x, j) => x - tried[pairs + i]![j]!);
        return (given[i]! - given[pairs + i]!) / Math.max(norm(apart), 1e-300);
      });
      return domain.embed(domain.kind === "interval" ? slopes[0]! : slopes);
    },
  };
}
