/** The device of a locally private bandit, in a browser. */

export { accept } from "./client/terms.js";
export { contextOf, documentOf, messageOf } from "./client/answers.js";
export { Account } from "./client/ledger.js";
export { SYSTEM } from "./privacy/entropy.js";
export { privatise } from "./privacy/drawing.js";
export * from "./protocol/errors.js";
