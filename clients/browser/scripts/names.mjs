/** What the files of dist/ are called, may weigh and share, and which names in them are made short. */
import { readFileSync } from "node:fs";

/** The parts that the device loads where a contract needs them: each imports the device and registers itself there. */
export const PARTS = ["delta", "features", "holdout", "learners"];

/** Bytes of the device, gzipped, and of each part; with features in it; docs/browser.md says it. */
export const LARGEST = 10_000;
export const LARGEST_WITH_FEATURES = 13_000;

/** What a part takes from the device's module, because there must be one of each; and the files that have it. */
const shared = readFileSync(new URL("../src/shared.ts", import.meta.url), "utf8");
export const SHARED = shared.match(/(?<=from "\.\/).*(?=")/g);
export const SHARING = /shared = (\[[^\]]*\])/.exec(shared)[1];

/**
 * Names of our own that get short ones: what only code of ours reads, in memory. Not here: what is on the wire, in the
 * database, in docs/browser.md or in the language.
 */
export const INTERNAL = `
  account act actionFrom affords ahead anyAction alone arrive ask budget coinSize consistent decide decideNow deltaOf draw dueOf embed entry
  epsilonOf fetchAhead kept lastOffer leave living measured measuring mechanisms messageFor naming nothing offering
  own recommendationFrom reportSize row tell terms transact update validFor vault verify wanted
`.match(/\w+/g);

/**
 * Short names of variables. Those of the outermost scope leave the first letters free: so the parameters of most functions
 * have the same names, and gzip finds more that it has seen before.
 */
const LETTERS = "tneoraiscludfhwmpgybvkxMAOjSPNqzIBUEDCTRFJLVWHKQGXYZ";
const FREE = 6;
export function variables() {
  let [outermost, last] = [true, -1]; // terser names the outermost scope first, and counts from 0 in every scope
  return {
    get(number) {
      outermost &&= number > last;
      last = number;
      let name = "";
      for (let rest = number + (outermost ? FREE : 0); rest >= 0; rest = Math.floor(rest / LETTERS.length) - 1) {
        name += LETTERS[rest % LETTERS.length];
      }
      return name;
    },
  };
}
