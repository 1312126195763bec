/** What one report may cost the person who sends it. */

import { checkPositive, ConfigurationError } from "./errors.js";

/** An (epsilon, delta) promise for one report. */
export interface Budget {
  readonly epsilon: number;
  readonly delta: number;
}

/** A checked budget. */
export function budget(epsilon: number, delta = 0): Budget {
  checkPositive("epsilon", epsilon);
  if (!(0 <= delta && delta < 1)) throw new ConfigurationError(`delta must be at least 0 and below 1, got ${delta}`);
  return { epsilon, delta };
}

/** In words. */
export function spelled({ epsilon, delta }: Budget): string {
  return `epsilon ${epsilon}` + (delta ? `, delta ${delta}` : "");
}
