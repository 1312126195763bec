/** Everything for which a device needs its server. A bad network raises nothing after joining. */

import { DAY, dimensionOf, type ByModel } from "../protocol/contract.js";
import { must, WireError } from "../protocol/errors.js";
import { modelFrom, versionOf, type Model } from "../protocol/offers.js";
import { problemFrom } from "../protocol/problems.js";
import { taskStatus, verdicts } from "../protocol/wire.js";
import { see, set, warn, type Core } from "./core.js";
import { good, read, type Answer } from "./http.js";
import { missing } from "./paying.js";
import { fetchAhead } from "./permits.js";
import { settle, withdraw, type Joined, type Kept, type Outgoing } from "./vault.js";

/** Verdicts and problems after which there is nothing more to do for a report; a server's own words are not kept. */
const JUDGED =
  /^(accepted|duplicate|bad-(gate|payload|permit|request)|expired-permit|unknown-version|not-found|wrong-kind|too-large|unsupported-type|task-(paused|expired|done))$/;
/** Those after which the device looks at the contract and the model again. */
const SUSPICIOUS = /^(bad-(gate|payload)|unknown-version)$/;
const TAKEN = /^(accepted|duplicate)$/;
/** Seconds that an answer is fresh when the server does not say. */
const FRESH = 60;
/** Characters that a number of a model may take, on average. */
const LARGEST_NUMBER = 32;
/** A permit that is missing is fetched after up to so many seconds, at random. */
const PAUSE = 600;
const LONGEST_BACKOFF = 3600;
/** Bytes. */
const LARGEST_PROBLEM = 2 ** 16;

/** Read what other tabs have changed. */
export async function catchUp(core: Core): Promise<void> {
  await core.vault?.transact(async (tables) => {
    const row = await tables.get("tasks", core.row.joined);
    if (!row) return;
    const kept = row.newest !== core.kept?.version && (await tables.get("models", [row.joined, row.newest]));
    if (kept) know(core, kept);
    core.outgoing = await tables.of("outbox");
    see(core, row);
  });
}

// --- out -------------------------------------------------------------------------------------------------------------

/**
 * How many reports were acknowledged, and how many refused for good. Each was delayed by itself and leaves by itself, in
 * a request of its own. What was withdrawn meanwhile stays.
 */
export async function deliver(core: Core): Promise<[acknowledged: number, refused: number]> {
  let [acknowledged, refused] = [0, 0];
  await catchUp(core);
  for (const due = dueOf(core); due.length;) {
    const [row] = due.splice(core.entropy.below(due.length), 1) as [Outgoing]; // in random order
    if (!ready(core) || !core.row.open) break;
    if (!(await core.vault!.transact((tables) => tables.get("outbox", row.id!)))) continue;
    const fate = await send(core, row, false);
    if (TAKEN.test(fate)) acknowledged++;
    else if (fate) refused++;
  }
  return [acknowledged, refused];
}

/** The page is being closed: what is due leaves now, and nothing else. */
export function leave(core: Core): void {
  if (ready(core) && core.row.open) for (const row of dueOf(core)) send(core, row, true).catch(warn);
}

function dueOf(core: Core): Outgoing[] {
  return core.outgoing.filter((row) => row.due <= core.now());
}

/** What has not left will not: neither from the outbox, nor from this tab's copy when the page is closed. */
export async function withdrawAll(core: Core, changes: Partial<Joined>, fate: string): Promise<void> {
  core.outgoing = [];
  await set(core, changes, (tables) => withdraw(tables, fate));
  core.outgoing = []; // a report may have been drawn meanwhile
}

/** Not while it is being sent, and not afterwards; where it stays in the outbox `catchUp` finds it again. */
function drop(core: Core, row: Outgoing): void {
  core.outgoing = core.outgoing.filter(({ id }) => id !== row.id);
}

/** What the server says of a report, which then leaves the outbox; empty where it stays. */
async function send(core: Core, row: Outgoing, keepalive: boolean): Promise<string> {
  drop(core, row);
  const fate = fateOf(await core.ask("/reports", { body: `{"reports":[${row.report}]}`, keepalive }).catch(() => null));
  if (typeof fate === "number" || fate === "task-paused") {
    if (typeof fate === "number") await failed(core, fate);
    else await set(core, { open: false, askAgain: core.now() + FRESH }); // keep the rest, and ask again after a while
    return "";
  }
  await set(core, { failures: 0, until: 0, ...(SUSPICIOUS.test(fate) && { askAgain: 0 }) }, async (tables) => {
    if (!(await tables.get("outbox", row.id!))) return;
    await tables.remove("outbox", row.id!);
    await settle(tables, row.entry, TAKEN.test(fate) ? "sent" : fate);
  });
  drop(core, row);
  return fate;
}

// --- in --------------------------------------------------------------------------------------------------------------

/** The status, where it is old; with it the model. */
export async function renew(core: Core): Promise<void> {
  if (over(core, core.row.askAgain, DAY)) await attempt(core, () => askStatus(core));
}

/** So many permits or tickets, if any. */
export async function refill(core: Core, number: number): Promise<void> {
  if (number) await attempt(core, () => fetchAhead(core, number));
}

/** How many to fetch now: all tickets that are missing, but one permit, after a random pause. */
export async function dueNow(core: Core): Promise<number> {
  const number = await missing(core);
  if (core.terms.contract.offers.kind === "tickets" || !number) return number;
  if (core.row.nextPermit <= 0 || core.row.nextPermit > core.now() + PAUSE) {
    await set(core, { nextPermit: core.now() + core.entropy.below(1000 * PAUSE) / 1000 });
  }
  return +over(core, core.row.nextPermit, PAUSE);
}

/** The status, and with it the model. */
export async function askStatus(core: Core): Promise<void> {
  const answer = await core.ask("");
  const { digest, mode, state, version } = read(answer, taskStatus);
  if (core.vault && digest !== core.terms.digest) {
    return withdrawAll(core, { changed: true, askAgain: core.now() + FRESH }, "contract-changed");
  }
  const byModel = core.terms.contract.offers.kind === "model";
  if (byModel && version && version !== core.kept?.version) await fetchModel(core, version);
  const askAgain =
    core.now() + (byModel || state !== "open" ? secondsIn(answer, "cache-control", /max-age=(\d+)/, FRESH) : DAY);
  return set(core, { mode, open: state === "open", changed: false, askAgain });
}

async function fetchModel(core: Core, told: string): Promise<void> {
  const body = good(await core.ask("/model"));
  const { joined } = core.row;
  const version = core.vault ? await versionOf(body) : told; // where nothing is reported the server's word is enough
  const kept = { joined, version, body };
  know(core, kept);
  await set(core, { newest: version }, async (tables) => {
    const needed = (await tables.of("decisions")).map((decision) => decision.version);
    for (const { version } of await tables.of("models")) {
      if (!needed.includes(version)) await tables.remove("models", [joined, version]);
    }
    await tables.put("models", kept);
  });
}

function know(core: Core, kept: Kept): void {
  core.model = modelOf(core, kept);
  core.kept = kept;
}

/** The model that these bytes are. */
export function modelOf(core: Core, { version, body }: Kept): Model {
  if (core.model && version === core.kept?.version) return core.model;
  const { offers } = core.terms.contract;
  const dimension = dimensionOf(offers as ByModel);
  const most = LARGEST_NUMBER * (dimension + 3) ** 2;
  must(body.length <= most, WireError, `a model of up to ${most} bytes`, body.length);
  return modelFrom(body, (offers as ByModel).model, dimension);
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
function over(core: Core, time: number, farthest: number): boolean {
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
  const word =
    status === 200
      ? verdictFrom(answer)
      : 400 <= status && status < 500 && body.length < LARGEST_PROBLEM
        ? problemFrom(body)
        : "";
  return JUDGED.test(word) ? word : secondsIn(answer, "retry-after", /^(\d+)$/, 0);
}

/** The verdict on the one report that was sent; empty if it is none. */
function verdictFrom(answer: Answer): string {
  try {
    const [verdict = "", ...more] = read(answer, verdicts).verdicts;
    return more.length ? "" : verdict;
  } catch {
    return "";
  }
}

/** Seconds that a header of the answer names, at most a day; else so many. */
function secondsIn(answer: Answer, header: string, pattern: RegExp, missing: number): number {
  const [, seconds] = pattern.exec(answer.headers.get(header) ?? "") ?? [];
  return seconds ? Math.min(+seconds, DAY) : missing;
}
