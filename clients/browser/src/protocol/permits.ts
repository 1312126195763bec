/** Permits: what a report answers, and the coin that a device and its server toss together. */

import { sha256 } from "./sha256.js";

/** Nobody finds a nonce from its hash. */
export const NONCE_BYTES = 12;

/** What a device asks for a permit with. */
export function commitmentOf(nonce: Uint8Array): Promise<Uint8Array> {
  return sha256(nonce);
}

/** The public randomness of the report; a mechanism takes as many bytes of it as it needs. */
export function coinOf(permit: Uint8Array, nonce: Uint8Array): Promise<Uint8Array> {
  return sha256(Uint8Array.of(...permit, ...nonce));
}
