/** The device of a locally private bandit, in a browser. */

export { Device } from "./client/device.js";
export type { Choice, Chosen, Given, Options, Sent, Waiting } from "./client/options.js";
export type { Decision } from "./client/answers.js";
export { NO_MODEL } from "./client/offering.js";
export type { Balance, Limits } from "./client/ledger.js";
export type { Reporting } from "./client/paying.js";
export type { Admission } from "./client/core.js";
export type { Entry } from "./client/vault.js";
export type { Entropy } from "./privacy/entropy.js";
export type { Contract } from "./protocol/contract.js";
export type { RawFields } from "./users/fields.js";
export {
  BadInput,
  BrokenPromise,
  ConfigurationError,
  ContractChanged,
  ContractRefused,
  PrivacyError,
  SottovoceError,
  Unreachable,
  WireError,
} from "./protocol/errors.js";
