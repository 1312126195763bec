/** What one report may cost the person who sends it. */

import { ConfigurationError, must } from "./errors.js";

/** An (epsilon, delta) promise for one report. */
export interface Budget {
  readonly epsilon: number;
  readonly delta: number;
}

/** A checked budget. */
export function budget(epsilon: number, delta: number): Budget {
  const fits = epsilon > 0 && epsilon < Infinity && 0 <= delta && delta < 1;
  must(fits, ConfigurationError, "epsilon > 0 and 0 <= delta < 1", [epsilon, delta]);
  return { epsilon, delta };
}
