/** Kinds of things by their names. */

import { ConfigurationError } from "./errors.js";

/** What has this name in its registry, or `ConfigurationError`, which says which file of ours brings more of this kind. */
export function lookUp<Kind>(kind: string, name: string, registry: Record<string, Kind>, file: string): Kind {
  if (Object.hasOwn(registry, name)) return registry[name]!;
  throw new ConfigurationError(`unknown ${kind} "${name}"; others are in ${file}.js, which a page imports too`);
}
