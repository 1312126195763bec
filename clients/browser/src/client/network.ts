/** Everything for which a device needs its server. A bad network raises nothing after joining. */

import { DAY } from "../protocol/contract.js";
import { problemFrom } from "../protocol/problems.js";
import { taskStatus, verdictFrom } from "../protocol/wire.js";
import { newest, set, transact, warn, type Core } from "./core.js";
import { received, type Answer } from "./http.js";
import { missing } from "./paying.js";
import type { Joined, Outgoing } from "./vault.js";

/** Verdicts and problems after which there is nothing more to do for a report; a server's own words are not kept. */
const JUDGED =
  /^(accepted|duplicate|bad-(gate|payload|permit|request)|expired-permit|unknown-version|not-found|wrong-kind|too-large|unsupported-type|task-(paused|expired|done))$/;
const TAKEN = /^(accepted|duplicate)$/;
/** Seconds that an answer is fresh when the server does not say. */
const FRESH = 60;
const LONGEST_BACKOFF = 3600;
/** Bytes. */
const LARGEST_PROBLEM = 2 ** 16;

/** Read what other tabs have changed. */
export function catchUp(core: Core): Promise<void> {
  return transact(core, () => {});
}

// --- out -------------------------------------------------------------------------------------------------------------

/**
 * How many reports were acknowledged, and how many refused for good. Each was delayed by itself and leaves by itself, in
 * a request of its own and in random order. What was withdrawn meanwhile stays.
 */
export async function deliver(core: Core): Promise<[acknowledged: number, refused: number]> {
  let [acknowledged, refused] = [0, 0];
  for (;;) {
    await catchUp(core);
    const due = dueOf(core);
    const row = due[core.entropy.below(Math.max(due.length, 1))];
    if (!row) return [acknowledged, refused];
    const fate = await send(core, row, false);
    if (TAKEN.test(fate)) acknowledged++;
    else if (fate) refused++;
  }
}

/** The page is being closed: what is due leaves now, and nothing else. */
export function leave(core: Core): void {
  for (const row of dueOf(core)) send(core, row, true).catch(warn);
}

/** What may leave now: nothing while the task is not open, or the server is left alone. */
function dueOf(core: Core): Outgoing[] {
  return core.row.outbox.filter((row) => row.due <= core.now() && core.row.open && ready(core));
}

/** The others. Each report was paid for once, so its entry names it. */
function without(outbox: Outgoing[], { paid }: Outgoing): Outgoing[] {
  return outbox.filter((other) => other.paid.id !== paid.id);
}

/** What has not left will not: neither from the outbox, nor from this tab's copy when the page is closed. */
export async function withdrawAll(core: Core, changes: Partial<Joined>, fate: string): Promise<void> {
  core.row.outbox = [];
  await set(core, changes, (row, write) => {
    for (const { paid } of [...row.decisions, ...row.outbox]) write({ ...paid, fate });
    row.decisions = [];
    row.outbox = [];
  });
}

/** What the server says of a report, which then leaves the outbox; empty where it stays. */
async function send(core: Core, row: Outgoing, keepalive: boolean): Promise<string> {
  core.row.outbox = without(core.row.outbox, row); // not twice from this tab's copy; the next step reads the outbox again
  const fate = fateOf(await core.ask("/reports", { body: `{"reports":[${row.report}]}`, keepalive }).catch(() => null));
  if (typeof fate === "number" || fate === "task-paused") {
    if (typeof fate === "number") await failed(core, fate);
    else await set(core, { open: false, askAgain: core.now() + FRESH }); // keep the rest, and ask again after a while
    return "";
  }
  const taken = TAKEN.test(fate);
  // after a refusal it looks at the contract and the model again
  await set(core, { failures: 0, until: 0, ...(!taken && { askAgain: 0 }) }, (kept, write) => {
    const others = without(kept.outbox, row);
    if (others.length < kept.outbox.length) write({ ...row.paid, fate: taken ? "sent" : fate });
    kept.outbox = others;
  });
  return fate;
}

// --- in --------------------------------------------------------------------------------------------------------------

/** What is new: the status, where it is old, with it the model, and permits or tickets that are missing. */
export async function refresh(core: Core): Promise<void> {
  await catchUp(core);
  if (over(core, core.row.askAgain, DAY)) await attempt(core, () => askStatus(core));
  const number = await missing(core);
  await refill(core, number && ((await core.offering.dueOf?.(core)) ?? number));
}

/** So many permits or tickets, if any. */
export async function refill(core: Core, number: number): Promise<void> {
  if (number) await attempt(core, () => core.offering.fetchAhead(core, number));
}

/** The status, and with it the model. */
export async function askStatus(core: Core): Promise<void> {
  const answer = await core.ask("");
  const { digest, mode, state, version } = received(answer, taskStatus);
  if (core.vault && digest !== core.digest) {
    return withdrawAll(core, { changed: true, askAgain: core.now() + FRESH }, "contract-changed");
  }
  const { update } = core.offering;
  if (version && version !== newest(core.row)) await update?.(core, version);
  const soon = update || state !== "open";
  const askAgain = core.now() + (soon ? secondsIn(answer, "cache-control", /max-age=(\d+)/, FRESH) : DAY);
  return set(core, { mode, open: state === "open", changed: false, askAgain });
}

// --- a server that does not answer is left alone: twice as long each time, with chance mixed in ----------------------

/** Use the network unless it failed just now. */
export async function attempt(core: Core, work: () => Promise<void>): Promise<void> {
  if (!ready(core)) return;
  try {
    await work();
  } catch (error) {
    warn(error);
    await failed(core, 0);
  }
}

function ready(core: Core): boolean {
  return over(core, core.row.until, DAY);
}

/** Has this time come? Also where it is farther off than any that was set: the clock may have been put back. */
export function over(core: Core, time: number, farthest: number): boolean {
  const wait = time - core.now();
  return wait <= 0 || wait > farthest;
}

async function failed(core: Core, atLeast: number): Promise<void> {
  const { failures } = core.row;
  const pause = (Math.min(LONGEST_BACKOFF, 2 ** failures) * (1 + core.entropy.below(1000) / 1000)) / 2;
  await set(core, { failures: Math.min(failures + 1, 20), until: core.now() + Math.max(atLeast, pause) });
}

/** The server's word on the report; where it has not judged it, the least number of seconds to wait. */
function fateOf(answer: Answer | null): string | number {
  if (!answer) return 0;
  const { status, body } = answer;
  let word = "";
  if (status === 200) word = verdictFrom(body);
  else if (400 <= status && status < 500 && body.length < LARGEST_PROBLEM) word = problemFrom(body);
  return JUDGED.test(word) ? word : secondsIn(answer, "retry-after", /^(\d+)$/, 0);
}

/** Seconds that a header of the answer names, at most a day; else so many. */
function secondsIn(answer: Answer, header: string, pattern: RegExp, missing: number): number {
  const [, seconds] = pattern.exec(answer.headers.get(header) ?? "") ?? [];
  return seconds ? Math.min(+seconds, DAY) : missing;
}
