/** Kinds of things by their names. */

import { ConfigurationError } from "./errors.js";

/** What has this name in its registry, or `ConfigurationError`. */
export function lookUp<Kind>(kind: string, name: string, registry: Record<string, Kind>): Kind {
  if (Object.hasOwn(registry, name)) return registry[name]!;
  throw new ConfigurationError(`unknown ${kind} "${name}"`);
}
