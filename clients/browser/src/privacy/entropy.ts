import { toHex } from "../protocol/codec.js";

/** A device's randomness: integers in [0, bound) and bytes, uniform. Outside tests it is `SYSTEM`. */
export interface Entropy {
  /** Up to a bound of 2^53. */
  below(bound: number): number;
  octets(count: number): Uint8Array;
}

/**
 * An integer from bytes as Python's `secrets.randbelow` takes it: as many bytes as the bound's bits need, the most
 * significant first, bits too many cut off at the end, and again while the number is too large.
 */
export function integerBelow(bound: number | bigint, octets: Entropy["octets"]): bigint {
  const bits = bound.toString(2).length;
  let drawn: bigint;
  do drawn = BigInt("0x" + toHex(octets((bits + 7) >> 3))) >> BigInt(-bits & 7);
  while (drawn >= bound);
  return drawn;
}

/** Randomness from a source of bytes. */
export function entropyFrom(octets: Entropy["octets"]): Entropy {
  return { octets, below: (bound) => Number(integerBelow(bound, octets)) };
}

/** The operating system's randomness. */
export const SYSTEM: Entropy = entropyFrom((count) => crypto.getRandomValues(new Uint8Array(count)));
