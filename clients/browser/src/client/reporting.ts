/** The draw: in the transaction that takes the decision away and keeps its report. */

import { privatise } from "../privacy/drawing.js";
import { documentOf, messageOf } from "./answers.js";
import type { Core } from "./core.js";
import { settle, type Outgoing, type Tables } from "./vault.js";

/** Draw the one report of a decision and forget its raw data; nothing if there is no such decision any more. */
export async function report(
  core: Core,
  tables: Tables,
  id: string,
  reward: unknown,
): Promise<{ row: Outgoing; late: boolean } | undefined> {
  const { contract } = core;
  const { joined } = core.row;
  const pending = await tables.get("decisions", id);
  if (pending?.joined !== joined) return undefined;
  const { entry, gate } = pending;
  const kept = await tables.get("models", [joined, pending.version]);
  const deadline = pending.at + contract.reward.wait;
  const late = core.now() > deadline;
  const message = messageOf(core, kept, pending, late ? undefined : reward);
  const mechanism = core.offering.mechanismsFor(core, pending)[gate]!;
  const drawn = new Uint8Array(core.mechanisms[gate]!.reportSize); // also a shorter one is as long as the others
  drawn.set(privatise(mechanism, message, core.entropy, pending.coin));
  const due = deadline + core.entropy.below(1000 * contract.delay + 1) / 1000; // whenever the reward came
  const outgoing: Outgoing = { joined, entry, report: JSON.stringify(documentOf(core, pending, drawn)), due };
  await tables.remove("decisions", id);
  await settle(tables, entry, "drawn");
  outgoing.id = await tables.put("outbox", outgoing);
  return { row: outgoing, late };
}
