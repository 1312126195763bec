/** The only function through which anything leaves a device. */

import { BadInput, must } from "../protocol/errors.js";
import type { Mechanism } from "./base.js";
import { norm, ROUNDING } from "./domains/base.js";
import type { Vector } from "./domains/index.js";
import type { Entropy } from "./entropy.js";
import { verify } from "./mechanisms.js";

/**
 * What is sent for one message: it answers the coin, of which the mechanism takes as many bytes as it needs. Refuses a
 * message that is too long and a mechanism that does not keep its promise, draws once, and returns bytes of a length
 * that depends on the task alone.
 */
export function privatise(mechanism: Mechanism, message: Vector, entropy: Entropy, coin: Uint8Array): Uint8Array {
  verify(mechanism);
  const { domain, coinSize } = mechanism;
  const { length } = message;
  const inside = length === domain.size && norm(message) <= domain.radius * (1 + ROUNDING);
  must(inside, BadInput, `a message of ${domain.size} numbers in its domain`, length);
  must(coin.length >= coinSize, BadInput, `a coin of ${coinSize} bytes`, coin.length);
  return mechanism.draw(message, entropy, coin.subarray(0, coinSize));
}
