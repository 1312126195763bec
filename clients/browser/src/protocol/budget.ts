/** What one report may cost the person who sends it. */

import { ConfigurationError } from "./errors.js";

/** An (epsilon, delta) promise for one report. */
export interface Budget {
  readonly epsilon: number;
  readonly delta: number;
}

/** A checked budget. */
export function budget(epsilon: number, delta: number): Budget {
  if (epsilon > 0 && epsilon < Infinity && 0 <= delta && delta < 1) return { epsilon, delta };
  throw new ConfigurationError(`there is no budget of epsilon ${epsilon}, delta ${delta}`);
}
