/** What a contract may declare for devices beside its usual parts. A name that is not known here is refused. */

import type { Mechanism } from "../privacy/base.js";
import type { Contract } from "../protocol/contract.js";
import { word } from "../protocol/strict.js";

/** A decision that does not teach but measures: what is shown, and per gate how its reward is reported. */
export interface Measured {
  /** Is the app's own choice shown? Else the learned one. */
  readonly baseline: boolean;
  readonly mechanisms: readonly Mechanism[];
}

/** What the decision whose permit has this coin measures; nothing where it teaches. */
export type Measuring = (coin: Uint8Array) => Measured | undefined;

/** How each extension is checked, and what it measures if it does. `holdout.js` adds the one that it brings. */
export const EXTENSIONS: Record<string, (contract: Contract, gates: readonly Mechanism[]) => Measuring | undefined> = {
  admission({ extensions }) {
    word("signed")(extensions["admission"], "admission");
    return undefined;
  },
};
