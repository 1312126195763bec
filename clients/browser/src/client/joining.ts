/** How a task is joined: from then on it is this contract or none. */

import { ConfigurationError, ContractChanged, ContractRefused, must, Unreachable } from "../protocol/errors.js";
import { digestOf, expired } from "../protocol/contract.js";
import type { Ask } from "./http.js";
import type { Limits } from "./ledger.js";
import { openTabs, type Tabs } from "./tabs.js";
import { accept, type Terms } from "./terms.js";
import { newRow, openVault, type Joined, type Vault } from "./vault.js";

/** Bytes. */
const LARGEST_CONTRACT = 2 ** 20;

/** What tabs share: what is kept, and each other. */
export type Shared = Vault & Tabs;

/** Nothing where the browser does not allow it. */
export async function share(storage: string, joined: string, heard: () => void): Promise<Shared | undefined> {
  let vault: Vault | undefined;
  try {
    vault = await openVault(storage, joined);
    return { ...vault, ...(await openTabs(`${storage} ${joined} `, heard, vault.close)) };
  } catch {
    vault?.close();
    return undefined;
  }
}

/** The terms on which a task is joined, and what is known of it. A contract that was pinned is not fetched again. */
export async function join(
  vault: Vault | undefined,
  ask: Ask,
  joined: string,
  task: string,
  limits: Limits,
  epsilon: number | undefined,
  now: number,
): Promise<[Terms, Joined]> {
  const known = (await vault?.transact((row) => row)) ?? newRow(joined);
  if (known.contract) return [await accept(known.contract, task, limits, epsilon), known];
  const contract = await served(ask, task);
  const terms = await accept(contract, task, limits, epsilon);
  if (expired(terms.contract, now)) throw new ContractRefused(`task "${task}" expired on ${terms.contract.expires}`);
  const row = await vault?.transact((row) => {
    row.contract ??= contract; // another tab may have joined meanwhile
    return row;
  }, "strict");
  if (row && (await digestOf(row.contract!)) !== terms.digest) throw changed(task);
  return [terms, row ?? known];
}

export function changed(task: string): ContractChanged {
  return new ContractChanged(`the contract of "${task}" is not the one that was joined`);
}

/** The contract as it is served now. */
async function served(ask: Ask, task: string): Promise<Uint8Array> {
  const words = `the contract of "${task}"`;
  const { status, body } = await ask("/contract").catch((error: Error) => {
    throw new Unreachable(`${words} cannot be had: ${error.message}; does the task file name this page's origin?`);
  });
  must(status !== 404, ConfigurationError, words, "no such task");
  must(status === 200, Unreachable, words, `status ${status}`);
  must(body.length <= LARGEST_CONTRACT, ContractRefused, `a contract of up to ${LARGEST_CONTRACT} bytes`, body.length);
  return body;
}
