/** How a device tries what does not look best. */

import type { Vector } from "../privacy/domains/index.js";

/** The action of the highest score, or with probability `explore` any; `chance` is uniform in [0, 1). */
export function explored(scores: Vector, explore: number, chance: number): number {
  if (chance < explore) {
    return Math.min(Math.floor((chance / Math.max(explore, 1e-300)) * scores.length), scores.length - 1);
  }
  return Math.max(0, scores.indexOf(Math.max(...scores))); // of equal ones the first; also where one is not a number
}
