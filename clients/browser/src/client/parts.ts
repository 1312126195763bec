/** Parts of the device load themselves: a page need not know what its tasks need. */

import { ConfigurationError, must } from "../protocol/errors.js";

/**
 * What each part adds to registries, its file, and how it is loaded: from beside the device's own file. No other file ever
 * is. They are written out, so that no server has a say and bundlers see them.
 */
export const PARTS: readonly [brings: RegExp, file: string, load: () => Promise<unknown>][] = [
  [/^(model|sphere)$/, "./features.js", () => import("../features.js")],
  [
    /^(points|linear|generalized|probit|ball|gradient|moments|relabelled)$/,
    "./learners.js",
    () => import("../learners.js"),
  ],
  [/^holdout$/, "./holdout.js", () => import("../holdout.js")],
  [/^(gaussian|laplace)$/, "./delta.js", () => import("../delta.js")],
];

/** What `judge` finds once the parts that it lacks are loaded; one was loaded just now for the name `missed`. */
export async function withParts<Found>(judge: () => Promise<Found>, missed?: unknown): Promise<Found> {
  return judge().catch(async (error: Error) => {
    const { cause: name } = error;
    for (const [brings, file, load] of PARTS) {
      if (!brings.test(name as string)) continue;
      const refuse = ({ message }: Error) => must(false, ConfigurationError, `${file} for "${name}"`, message);
      if (name === missed) refuse(error); // it added to another device: another version, or from another place
      await load().catch(refuse);
      return withParts(judge, name);
    }
    throw error;
  });
}
