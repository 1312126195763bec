/**
 * A holdout: some decisions show the app's own choice or measure the learned one, so that what learning gains is known.
 * The coin of a permit says which, so no report has to. The rule is in docs/protocol.md, "A holdout".
 */

import type { Contract } from "./contract.js";
import { WireError } from "./errors.js";
import { named, read, real, whole, type Read } from "./strict.js";

/** The largest share. */
const MOST = 0.25;

const holdout = { share: real, gates: [named(whole)] as const };

export type Purpose = "learning" | "baseline" | "choice";

/** What a contract with a model declares for devices. */
export function holdoutOf({ extensions, offers, gates }: Contract): Read<typeof holdout> {
  const found = read(holdout, extensions["holdout"], "holdout");
  const fits = offers.kind === "model" && found.gates.length === gates.length && gates.every(({ delta }) => !delta);
  if (fits && 0 < found.share && found.share <= MOST) return found;
  throw new WireError(`its holdout must have a share up to ${MOST} and one pure gate for each, got ${found.share}`);
}

/** What the report with this coin is for. */
export function purposeOf(coin: Uint8Array, share: number): Purpose {
  const place = coin.subarray(12, 18).reduce((sum, octet) => sum * 256 + octet, 0) / 2 ** 48;
  return place < share ? "baseline" : place < 2 * share ? "choice" : "learning";
}
