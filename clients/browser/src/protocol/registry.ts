/** Kinds of things by their names. */

import { ConfigurationError } from "./errors.js";

/** What has this name in its registry, or `ConfigurationError`, whose cause is the name: a part may bring it. */
export function lookUp<Kind>(kind: string, name: string, registry: Record<string, Kind>): Kind {
  if (Object.hasOwn(registry, name)) return registry[name]!;
  throw new ConfigurationError(`unknown ${kind} "${name}"`, { cause: name });
}
