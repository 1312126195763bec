/** What the files of dist/ are called and share, and which names in them are made short. */

/** The parts that the device loads where a contract needs them: each imports the device and registers itself there. */
export const PARTS = ["delta", "holdout", "learners"];

/** What a part takes from the device's module, because there must be one of each. */
export const SHARED = /\/(accounting|mechanisms|errors|extensions|links|offers|domains\/index|users\/index)\.js$/;
export const PUBLIC = "BadInput, BrokenPromise, MECHANISMS, shared, WireError";
export const SHARING = "domainFrom, DOMAINS, EXTENSIONS, MEANS, mechanismFrom, MODELS, must, USERS, WITH_DELTA";

/**
 * Names of our own that get short ones: what only code of ours reads, in memory. Not here: what is on the wire, in the
 * database, in docs/browser.md or in the language.
 */
export const INTERNAL = `
  account act affords after alone arrive ask budget coinSize deltaOf draw embed enter epsilonOf kept last lastOffer late
  leave living measured measuring mechanisms nothing outgoing own remove reportSize row tabs tell terms transact user vault
  verify wanted domainFrom DOMAINS EXTENSIONS MEANS mechanismFrom MODELS must USERS WITH_DELTA
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
