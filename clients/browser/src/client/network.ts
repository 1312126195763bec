/** Everything for which a device needs its server. A bad network raises nothing after joining. */

import { DAY, dimensionOf } from "../protocol/contract.js";
import { WireError } from "../protocol/errors.js";
import { modelFrom, versionOf, type Model } from "../protocol/offers.js";
import { problemFrom } from "../protocol/problems.js";
import { taskStatus, verdicts } from "../protocol/wire.js";
import { see, set, warn, type Core } from "./core.js";
import { good, read, type Answer } from "./http.js";
import { missing } from "./paying.js";
import { fetchAhead } from "./permits.js";
import { settle, withdraw, type Kept, type Outgoing } from "./vault.js";

/** Verdicts after which the device looks at the contract and the model again. */
const SUSPICIOUS = ["bad-gate", "bad-payload", "unknown-version"];
const TAKEN = ["accepted", "duplicate"];
/** Problems after which a report is never acceptable; a server's own words are not kept. */
const FINAL = /^(bad-request|not-found|wrong-kind|too-large|unsupported-type|task-(paused|expired|done))$/;
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
  const { joined } = core.row;
  await core.vault?.transact(async (tables) => {
    const row = await tables.get("tasks", joined);
    if (!row) return;
    const kept = row.newest !== core.kept?.version && (await tables.get("models", [joined, row.newest]));
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
  for (const row of inRandomOrder(core, dueOf(core))) {
    if (!ready(core) || !core.row.open) break;
    if (!(await core.vault!.transact((tables) => tables.get("outbox", row.id!)))) continue;
    const fate = await send(core, row, false);
    if (TAKEN.includes(fate)) acknowledged++;
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

/** Not while it is being sent, and not afterwards. */
function drop(core: Core, row: Outgoing): void {
  core.outgoing = core.outgoing.filter(({ id }) => id !== row.id);
}

/** What the server says of a report, which then leaves the outbox; empty where it stays. */
async function send(core: Core, row: Outgoing, keepalive: boolean): Promise<string> {
  drop(core, row);
  const fate = fateOf(await core.ask("/reports", { body: `{"reports":[${row.report}]}`, keepalive }).catch(() => null));
  if (typeof fate === "number" || fate === "task-paused") {
    core.outgoing.push(row);
    if (typeof fate === "number") await failed(core, fate);
    else await set(core, { open: false, askAgain: core.now() + FRESH }); // keep the rest, and ask again after a while
    return "";
  }
  await set(core, { failures: 0, until: 0, ...(SUSPICIOUS.includes(fate) && { askAgain: 0 }) }, async (tables) => {
    if (!(await tables.get("outbox", row.id!))) return;
    await tables.remove("outbox", row.id!);
    await settle(tables, row.entry, TAKEN.includes(fate) ? "sent" : fate);
  });
  drop(core, row);
  return fate;
}

function inRandomOrder<T>({ entropy }: Core, rows: T[]): T[] {
  for (let last = rows.length - 1; last > 0; last--) {
    const other = entropy.below(last + 1);
    [rows[last], rows[other]] = [rows[other]!, rows[last]!];
  }
  return rows;
}

// --- in --------------------------------------------------------------------------------------------------------------

/** The status, where it is old; with it the model. */
export async function renew(core: Core): Promise<void> {
  const wait = core.row.askAgain - core.now();
  if (wait <= 0 || wait > DAY) await attempt(core, () => askStatus(core)); // the clock may have been put back
}

/** So many permits or tickets, if any. */
export async function refill(core: Core, number: number): Promise<void> {
  if (number) await attempt(core, () => fetchAhead(core, number));
}

/** How many to fetch now: all tickets that are missing, but one permit, after a random pause. */
export async function dueNow(core: Core): Promise<number> {
  const number = await missing(core);
  if (core.terms.contract.offers.kind === "tickets" || !number) return number;
  const now = core.now();
  const { nextPermit } = core.row;
  if (nextPermit <= 0 || nextPermit > now + PAUSE) {
    await set(core, { nextPermit: now + core.entropy.below(1000 * PAUSE) / 1000 });
  }
  return now < core.row.nextPermit ? 0 : 1;
}

/** The status, and with it the model. */
export async function askStatus(core: Core): Promise<void> {
  const answer = await core.ask("");
  const { digest, mode, state, version } = read(answer, taskStatus);
  if (core.vault && digest !== core.terms.digest) {
    const changes = { changed: true, askAgain: core.now() + FRESH };
    return set(core, changes, (tables) => withdraw(tables, "contract-changed"));
  }
  const { kind } = core.terms.contract.offers;
  if (kind === "model" && version && version !== core.kept?.version) await fetchModel(core, version);
  const askAgain = core.now() + (kind === "model" || state !== "open" ? maxAge(answer) : DAY);
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
  if (offers.kind !== "model" || body.length > LARGEST_NUMBER * (dimensionOf(offers) + 3) ** 2) {
    throw new WireError(`a model of ${body.length} bytes`);
  }
  return modelFrom(body, offers.model, dimensionOf(offers));
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

function ready({ row, now }: Core): boolean {
  const wait = row.until - now();
  return wait <= 0 || wait > DAY;
}

async function failed(core: Core, atLeast: number): Promise<void> {
  const { failures } = core.row;
  const pause = (Math.min(LONGEST_BACKOFF, 2 ** failures) * (1 + core.entropy.below(1000) / 1000)) / 2;
  await set(core, { failures: Math.min(failures + 1, 20), until: core.now() + Math.max(atLeast, pause) });
}

/** The server's word on the report; where it has not judged it, the least number of seconds to wait. */
function fateOf(answer: Answer | null): string | number {
  if (!answer) return 0;
  const { status, headers, body } = answer;
  if (status === 200) {
    try {
      const [verdict, ...more] = read(answer, verdicts).verdicts;
      return more.length ? 0 : (verdict ?? 0);
    } catch {
      return 0;
    }
  }
  const problem = body.length < LARGEST_PROBLEM ? problemFrom(body) : "";
  if (400 <= status && status < 500 && FINAL.test(problem)) return problem;
  return Math.min(Number(/^\d+$/.exec(headers.get("retry-after") ?? "")), DAY);
}

/** Seconds for which an answer is fresh. */
function maxAge({ headers }: Answer): number {
  const [, seconds] = /max-age=(\d{1,9})/.exec(headers.get("cache-control") ?? "") ?? [];
  return seconds ? Math.min(Number(seconds), DAY) : FRESH;
}
