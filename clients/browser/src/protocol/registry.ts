/** Kinds of things by their names. */

import { ConfigurationError } from "./errors.js";

/**
 * The parts of each kind of model; a number of axes stands behind those that are not single numbers. `features.js` and
 * `learners.js` add those that they bring.
 */
export const MODELS: Record<string, string> = {};

/** The expected reward where <x, theta> is z, for each link. `features.js` and `learners.js` add theirs. */
export const MEANS: Record<string, (z: number) => number> = {};

/** What has this name in its registry, or `ConfigurationError`, whose cause is the name: a part may bring it. */
export function lookUp<Kind>(kind: string, name: string, registry: Record<string, Kind>): Kind {
  if (Object.hasOwn(registry, name)) return registry[name]!;
  throw new ConfigurationError(`unknown ${kind} "${name}"`, { cause: name });
}
