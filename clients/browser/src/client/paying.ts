/** A decision is paid for when it is made: whether it is reported can then not depend on what comes of it. */

import { expired } from "../protocol/contract.js";
import type { Answered } from "./answers.js";
import type { Core } from "./core.js";
import type { Balance } from "./ledger.js";
import { left, neededUntil, owned } from "./permits.js";
import { valid, type Held, type Kept, type Tables } from "./vault.js";

/** What a report will be about: the chosen features and their model, or an action; and the tab's own permit or ticket. */
export interface Subject {
  readonly raw: Answered["raw"];
  readonly model?: Kept;
  readonly own?: Held | undefined;
  /** Why there is nothing to report, if so. */
  readonly nothing?: string | false;
}

/** Would a decision be reported now, as far as this tab knows? "done": the task knows enough; "closed": it is paused. */
export type Reporting = "on" | "opted-out" | "done" | "closed" | "spent";

export function reportingOf(core: Core, at = core.now()): Reporting {
  if (core.row.optedOut) return "opted-out";
  if (core.row.recommendation !== undefined) return "done";
  if (!core.row.open || core.row.changed || expired(core.contract, at)) return "closed";
  return core.account.affords(core.mechanism, at) ? "on" : "spent";
}

/** Promise a report and pay for it, in one transaction; or the reason why there will be none. */
export async function promise(
  core: Core,
  tables: Tables,
  id: string,
  at: number,
  tab: string,
  { raw, model, own, nothing }: Subject,
): Promise<string> {
  const { gate, mechanism } = core;
  const { joined } = core.row;
  if (own) {
    if ((await tables.get("permits", own.id!))?.tab !== tab) return "another tab has used the ticket";
    await tables.remove("permits", own.id!); // also if nothing is reported: its action was shown
  }
  if (nothing) return nothing;
  await enter(core, tables);
  const reporting = reportingOf({ ...core, row: (await tables.get("tasks", joined))! }, at);
  if (reporting !== "on") return reporting;
  const held = owned(core) ? own : (await valid(tables, neededUntil(core, at)))[0];
  if (!held) return "no permit at hand";
  if (!own) await tables.remove("permits", held.id!);
  if (model) await tables.put("models", model); // another tab may have thrown it away meanwhile
  const { permit, nonce, coin } = held;
  const paid = { joined, ...mechanism.budget, cost: mechanism.cost(), hour: core.account.hour(at), fate: "promised" };
  const entry = await tables.put("ledger", paid);
  const version = model?.version ?? "";
  await tables.put("decisions", { id, joined, entry, at, gate, permit, nonce, coin, version, raw });
  return "";
}

/** How many permits or tickets to fetch; none while nothing may be reported. */
export async function missing(core: Core): Promise<number> {
  await core.vault?.transact((tables) => enter(core, tables));
  return core.vault && reportingOf(core) === "on" ? Math.max(0, core.wanted - (await left(core))) : 0;
}

/** For the owner to see. Without storage there will be no reports. */
export async function balanceOf(core: Core): Promise<Balance> {
  await core.vault?.transact((tables) => enter(core, tables));
  const balance = core.account.balance(core.mechanism, core.now());
  return core.vault ? balance : { ...balance, reportsLeft: 0 };
}

/** Entries are only added, so each is read once. */
async function enter(core: Core, tables: Tables): Promise<void> {
  for (const { id, joined, cost, hour } of await tables.after("ledger", core.last)) {
    core.last = id!;
    core.account.enter(cost, hour, joined === core.row.joined);
  }
}
