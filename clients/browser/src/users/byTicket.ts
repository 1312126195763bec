/** The users of tasks with tickets: they play what the server chose, and report a reward or how it changes. */

import type { Domain, Vector } from "../privacy/domains/index.js";
import { norm } from "../privacy/domains/base.js";
import type { LocalUser } from "./index.js";

const act: LocalUser["act"] = (offered) => offered as number;

/** Algorithm 1 of the paper, on the person's side. */
export function scalarUser(domain: Domain): LocalUser {
  return { act, message: (_offered, _context, _action, reward) => domain.embed(reward) };
}

/**
 * Algorithm 2 of the paper, on the person's side. The points are pairs: the first half and the second half of them.
 *
 * What is made private is the slope of the reward, (f(a) - f(b)) / ||a - b||, one number a pair, clipped to the declared
 * steepness; never the two rewards by themselves.
 */
export function slopeUser(domain: Domain): LocalUser {
  return {
    act,
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
