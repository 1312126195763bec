/** A decision is paid for when it is made: whether it is reported can then not depend on what comes of it. */

import { expired } from "../protocol/contract.js";
import type { Answered } from "./answers.js";
import { transact, type Core } from "./core.js";
import type { Balance } from "./ledger.js";
import { left, owned, usable } from "./permits.js";
import type { Held, Kept, Step } from "./vault.js";

/** What a report will be about: the chosen features and their model, or an action; and the tab's own permit or ticket. */
export interface Subject {
  readonly raw: Answered["raw"];
  readonly model?: Kept | undefined;
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

/** Promise a report and pay for it, in one step; or the reason why there will be none. */
export function promise(core: Core, id: string, at: number, { raw, model, own, nothing }: Subject): Step<string> {
  return (row, write) => {
    const without = (used: Held) => row.permits.filter(({ nonce }) => nonce !== used.nonce);
    if (own) {
      const mine = row.permits.some(({ nonce, tab }) => nonce === own.nonce && tab === own.tab);
      if (!mine) return "another tab has used the ticket";
      row.permits = without(own); // also if nothing is reported: its action was shown
    }
    if (nothing) return nothing;
    const reporting = reportingOf({ ...core, row }, at);
    if (reporting !== "on") return reporting;
    const held = owned(core) ? own : usable(core, row.permits, at)[0];
    if (!held) return "no permit at hand";
    row.permits = without(held);
    const version = model?.version ?? "";
    if (model && !row.models.some((one) => one.version === version)) row.models.unshift(model); // it was thrown away
    const { gate, mechanism, account } = core;
    const paid = account.entry(mechanism, at);
    const { permit, nonce, coin } = held;
    row.decisions.push({ id, paid, at, gate, permit, nonce, coin, version, raw });
    write(paid);
    return "";
  };
}

/** How many permits or tickets to fetch; none while nothing may be reported. */
export async function missing(core: Core): Promise<number> {
  const number = core.wanted - (await left(core));
  return core.vault && reportingOf(core) === "on" ? Math.max(0, number) : 0;
}

/** For the owner to see. Without storage there will be no reports. */
export async function balanceOf(core: Core): Promise<Balance> {
  await transact(core, () => {});
  const balance = core.account.balance(core.mechanism, core.now());
  return core.vault ? balance : { ...balance, reportsLeft: 0 };
}
