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
import { set, type Core } from "./core.js";
import type { Answer } from "./http.js";
import { valid, type Held, type Joined } from "./vault.js";

/** Characters of a permit; a ticket has the memo of its offer in it. */
const LONGEST = 4096;

/** A permit must be valid when its report is due at the latest; a ticket, when its action is chosen. */
export function neededUntil(core: Core, now: number): number {
  const { contract, offering } = core;
  return now + offering.validFor(contract);
}

/** Does a tab need its own to choose? */
export function owned(core: Core): boolean {
  return core.contract.offers.kind === "tickets" || !!core.measuring;
}

/** The oldest of this tab, which nobody else will use. */
export function takeOwn(core: Core): Held | undefined {
  core.own = core.own.filter((one) => one.expires > neededUntil(core, core.now()));
  return core.own.shift();
}

/** How many can be used by a decision that is made now. Where a tab needs its own, those that no other has become its. */
export async function left(core: Core): Promise<number> {
  const { vault } = core;
  if (!vault) return core.own.length;
  const [tab, living] = [await vault.id(), await vault.living()];
  return vault.transact(async (tables) => {
    const held = await valid(tables, neededUntil(core, core.now()));
    if (!owned(core)) return held.length;
    core.own = held.filter((one) => one.tab === tab || !living.includes(one.tab)).slice(0, core.wanted || 1);
    for (const one of core.own) await tables.put("permits", { ...one, tab });
    return core.own.length;
  });
}

/** New nonces, and the answer to a request with their commitments. */
export async function commit(core: Core, route: string, number: number): Promise<[Uint8Array[], Answer]> {
  const nonces = Array.from({ length: number }, () => core.entropy.octets(NONCE_BYTES));
  const commitments = await Promise.all(nonces.map(commitmentOf));
  const body = commitmentsBody(commitments.map(toText));
  const answer = await core.ask(route, { body, headers: await tokenFor(core, number) });
  if (problemFrom(answer.body) === "task-paused") await set(core, { open: false });
  return [nonces, answer];
}

/** The header of a request that must be admitted. If the app's function fails, nothing is asked for. */
async function tokenFor({ admission, contract }: Core, number: number): Promise<Record<string, string>> {
  if (!admission || !("admission" in contract.extensions)) return {};
  const token = await admission(number);
  fromText(token); // nothing else may become a header
  return { [ADMISSION]: token };
}

/** Keep what answers these nonces. */
export async function keep(
  core: Core,
  nonces: Uint8Array[],
  found: Pick<Held, "permit" | "expires" | "action">[],
  changes: Partial<Joined>,
): Promise<void> {
  const { joined } = core.row;
  const tab = (await core.vault?.id()) ?? "";
  const held: Held[] = [];
  for (const [i, one] of found.slice(0, nonces.length).entries()) {
    must(one.permit.length <= LONGEST, WireError, `a permit of up to ${LONGEST} characters`, one.permit.length);
    const coin = await coinOf(fromText(one.permit), nonces[i]!);
    held.push({ ...one, joined, nonce: toText(nonces[i]!), coin, tab });
  }
  await set(core, changes, async (tables) => {
    for (const one of held) one.id = await tables.put("permits", one);
  });
  if (owned(core)) core.own.push(...held);
}
