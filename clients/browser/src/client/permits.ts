/**
 * Permits and tickets as a device holds them: fetched ahead, used oldest first, each for one report.
 *
 * A permit is fetched with a request of its own, at a time that has nothing to do with a decision. When its report comes
 * the server can recognise it, and so know when it was fetched. A ticket names the action, and in a task with a holdout
 * a permit says what is shown; so a tab that is to choose without waiting has its own of these, in memory. When it is
 * closed the others may have them.
 */

import { fromText, toText } from "../protocol/codec.js";
import { must, WireError } from "../protocol/errors.js";
import { coinOf, commitmentOf, NONCE_BYTES } from "../protocol/permits.js";
import { problemFrom } from "../protocol/problems.js";
import { ADMISSION, commitmentsBody } from "../protocol/wire.js";
import { set, transact, type Core } from "./core.js";
import type { Answer } from "./http.js";
import type { Held, Joined } from "./vault.js";

/** Characters of a permit; a ticket has the memo of its offer in it. */
const LONGEST = 4096;

/** Those that a decision made then can use: the report's permit must be valid when it is due at the latest. */
export function usable(core: Core, held: Held[], at = core.now()): Held[] {
  return held.filter(({ expires }) => expires > at + core.offering.validFor(core.contract));
}

/** Does a tab need its own to choose? */
export function owned(core: Core): boolean {
  return core.contract.offers.kind === "tickets" || !!core.measuring;
}

/** The oldest of this tab, which nobody else will use. */
export function takeOwn(core: Core): Held | undefined {
  core.own = usable(core, core.own);
  return core.own.shift();
}

/** How many can be used by a decision that is made now. Where a tab needs its own, those that no other has become its. */
export async function left(core: Core): Promise<number> {
  const { vault } = core;
  if (!vault) return core.own.length;
  const [tab, living] = [await vault.id(), await vault.living()];
  return transact(core, (row) => {
    row.permits = usable(core, row.permits); // the others are thrown away: nothing was drawn
    if (!owned(core)) return row.permits.length;
    core.own = row.permits.filter((one) => one.tab === tab || !living.includes(one.tab)).slice(0, core.wanted || 1);
    for (const one of core.own) one.tab = tab;
    return core.own.length;
  });
}

/** Ask this route for so many, and keep what is found in the answer, together with what else changes. */
export async function acquire(
  core: Core,
  route: string,
  number: number,
  foundIn: (answer: Answer) => [Pick<Held, "permit" | "expires" | "action">[], Partial<Joined>],
): Promise<void> {
  const nonces = Array.from({ length: number }, () => core.entropy.octets(NONCE_BYTES));
  const commitments = await Promise.all(nonces.map(commitmentOf));
  const body = commitmentsBody(commitments.map(toText));
  const answer = await core.ask(route, { body, headers: await tokenFor(core, number) });
  if (problemFrom(answer.body) === "task-paused") await set(core, { open: false });
  const [found, changes] = foundIn(answer);
  const tab = (await core.vault?.id()) ?? "";
  const held: Held[] = [];
  for (const [i, one] of found.slice(0, number).entries()) {
    must(one.permit.length <= LONGEST, WireError, `a permit of up to ${LONGEST} characters`, one.permit.length);
    const coin = await coinOf(fromText(one.permit), nonces[i]!);
    held.push({ ...one, nonce: toText(nonces[i]!), coin, tab });
  }
  await set(core, changes, ({ permits }) => permits.push(...held));
  if (owned(core)) core.own.push(...held);
}

/** The header of a request that must be admitted. If the app's function fails, nothing is asked for. */
async function tokenFor({ admission, contract }: Core, number: number): Promise<Record<string, string>> {
  if (!admission || !("admission" in contract.extensions)) return {};
  const token = await admission(number);
  fromText(token); // nothing else may become a header
  return { [ADMISSION]: token };
}
