/**
 * What tasks with a holdout need: which decisions show the app's own choice or measure the learned one, and how such a
 * reward is reported. The device loads it for a contract that needs it; it registers itself there. A page may import it
 * too.
 */

import { EXTENSIONS, type Measured, type Measuring } from "./client/extensions.js";
import { domainFrom } from "./privacy/domains/index.js";
import type { Mechanism } from "./privacy/base.js";
import { mechanismFrom } from "./privacy/mechanisms.js";
import type { Contract } from "./protocol/contract.js";
import { BrokenPromise } from "./protocol/errors.js";
import { holdoutOf, purposeOf, type Purpose } from "./protocol/holdout.js";

EXTENSIONS["holdout"] = (contract, mechanisms): Measuring => {
  const { share, gates } = holdoutOf(contract);
  const measuring = measuringOf(contract, gates, mechanisms);
  const kinds: Partial<Record<Purpose, Measured>> = {
    baseline: { baseline: true, mechanisms: measuring },
    choice: { baseline: false, mechanisms: measuring },
  };
  return (coin) => kinds[purposeOf(coin, share)];
};

/** For each gate the one through which a reward alone is reported, verified. */
function measuringOf(
  { reward }: Contract,
  numbers: readonly Record<string, number>[],
  gates: readonly Mechanism[],
): Mechanism[] {
  const rewards = domainFrom({ kind: "interval", low: reward.unit_low, high: reward.unit_high });
  return gates.map(({ budget, reportSize }, i) => {
    const one = mechanismFrom("levels", rewards, budget, numbers[i]!);
    if (one.reportSize <= reportSize) return one;
    throw new BrokenPromise(`a report of the holdout has ${one.reportSize} bytes, the others ${reportSize}`);
  });
}
