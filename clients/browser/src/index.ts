/** The device of a locally private bandit, in a browser. */

export { accept } from "./client/terms.js";
export { baselineOf, contextOf, documentOf, messageOf, nameOf } from "./client/answers.js";
export { Account, limitsOf } from "./client/ledger.js";
export { SYSTEM } from "./privacy/entropy.js";
export { privatise } from "./privacy/drawing.js";
export { modelFrom, versionOf } from "./protocol/offers.js";
export { problemFrom } from "./protocol/problems.js";
export * from "./protocol/permits.js";
export * from "./protocol/wire.js";
export * from "./protocol/errors.js";

/** What `delta.js` adds to. */
export { WITH_DELTA } from "./privacy/accounting.js";
export { DOMAINS } from "./privacy/domains/index.js";
export { MECHANISMS } from "./privacy/mechanisms.js";
