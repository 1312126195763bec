/** The draw: in the step that takes the decision away and keeps its report. */

import { privatise } from "../privacy/drawing.js";
import { documentOf, messageOf, unitOf } from "./answers.js";
import type { Core } from "./core.js";
import type { Step } from "./vault.js";

/**
 * Draw the one report of a decision and forget its raw data. False if the reward came too late, or if there is no such
 * decision any more.
 */
export function report(core: Core, id: string, reward: unknown): Step<boolean> {
  return (row, write) => {
    const pending = row.decisions.find((one) => one.id === id);
    if (!pending) return false;
    const { contract, entropy, measuring } = core;
    const deadline = pending.at + contract.reward.wait;
    const inTime = core.now() <= deadline;
    const observed = inTime ? reward : undefined;
    const measured = measuring?.(pending.coin);
    const mechanism = (measured ?? core).mechanisms[pending.gate]!;
    const message = measured
      ? mechanism.domain.embed(unitOf(contract, observed))
      : messageOf({ ...core, row }, pending, observed);
    const drawn = new Uint8Array(core.mechanisms[pending.gate]!.reportSize); // also a shorter one is as long as the others
    drawn.set(privatise(mechanism, message, entropy, pending.coin));
    const due = deadline + entropy.below(1000 * contract.delay + 1) / 1000; // whenever the reward came
    const { paid } = pending;
    row.decisions = row.decisions.filter((one) => one !== pending);
    row.outbox.push({ paid, report: JSON.stringify(documentOf(core, pending, drawn)), due });
    write({ ...paid, fate: "drawn" });
    return inTime;
  };
}
