/**
 * Every error Sottovoce raises on purpose; the tree is that of the Python package.
 *
 * SottovoceError
 * ├── ConfigurationError   a human chose a value that cannot work
 * ├── PrivacyError         the gate refuses; nothing has left the device
 * │   ├── BadInput         the raw data is not what the domain declares
 * │   ├── BrokenPromise    the mechanism's numbers do not give the promised budget
 * │   ├── ContractRefused  a task asks for more than the owner allows, or its contract is not what it claims to be
 * │   └── ContractChanged  another contract under the name of one that was joined
 * ├── Unreachable          the server does not answer and nothing is cached
 * └── WireError            bytes that are not what this task sends
 */
export class SottovoceError extends Error {
  override name = "SottovoceError";
}
export class ConfigurationError extends SottovoceError {
  override name = "ConfigurationError";
}
export class PrivacyError extends SottovoceError {
  override name = "PrivacyError";
}
export class BadInput extends PrivacyError {
  override name = "BadInput";
}
export class BrokenPromise extends PrivacyError {
  override name = "BrokenPromise";
}
export class ContractRefused extends PrivacyError {
  override name = "ContractRefused";
}
export class ContractChanged extends PrivacyError {
  override name = "ContractChanged";
}
export class Unreachable extends SottovoceError {
  override name = "Unreachable";
}
export class WireError extends SottovoceError {
  override name = "WireError";
}

/** Raise an error of this kind unless the claim holds. It says what was wanted and what came. */
export function must(
  claim: unknown,
  Kind: new (message: string) => SottovoceError,
  wanted: string,
  got: unknown,
): asserts claim {
  if (!claim) throw new Kind(`wanted ${wanted}, got ${`${got}`.slice(0, 200)}`);
}
