/** The device of a locally private bandit, in a browser. */

export { Device } from "./client/device.js";
export type { Choice, Chosen, Given, Options, Sent, Waiting } from "./client/options.js";
export type { Decision } from "./client/answers.js";
export { NO_MODEL } from "./client/choosing.js";
export type { Balance, Limits } from "./client/ledger.js";
export type { Reporting } from "./client/paying.js";
export type { Admission } from "./client/core.js";
export type { Entry } from "./client/vault.js";
export type { Entropy } from "./privacy/entropy.js";
export type { Contract } from "./protocol/contract.js";
export type { RawFields } from "./users/fields.js";
export * from "./protocol/errors.js";

/** What `delta.js`, `holdout.js` and `learners.js` add to, or take from here because there must be one of each. */
export { EXTENSIONS } from "./client/extensions.js";
export { WITH_DELTA } from "./privacy/accounting.js";
export { domainFrom, DOMAINS } from "./privacy/domains/index.js";
export { mechanismFrom, MECHANISMS } from "./privacy/mechanisms.js";
export { MEANS } from "./protocol/links.js";
export { MODELS } from "./protocol/offers.js";
export { USERS } from "./users/index.js";
