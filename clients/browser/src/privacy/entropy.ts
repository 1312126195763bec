/** A device's randomness: integers in [0, bound) and bytes, uniform. Outside tests it is `SYSTEM`. */
export interface Entropy {
  below(bound: number): number;
  octets(count: number): Uint8Array;
}

/**
 * Integers from bytes as Python's `secrets.randbelow` takes them: as many bytes as the bound's bits need, the most
 * significant first, bits too many cut off at the end, and again while the number is too large. Bounds up to 2^53.
 */
export function entropyFrom(octets: (count: number) => Uint8Array): Entropy {
  const below = (bound: number) => {
    const bits = bound.toString(2).length;
    const left = 2 ** ((8 - (bits % 8)) % 8);
    let drawn: number;
    do {
      const bytes = octets(Math.ceil(bits / 8));
      const last = bytes.length - 1;
      // Halves and smaller parts are cut off from the last byte alone: all bytes together have more than 53 bits.
      drawn = bytes.reduce(
        (sum, byte, i) => (i < last ? sum * 256 + byte : (sum * 256) / left + Math.floor(byte / left)),
        0,
      );
    } while (drawn >= bound);
    return drawn;
  };
  return { below, octets };
}

/** The operating system's randomness. */
export const SYSTEM: Entropy = entropyFrom((count) => crypto.getRandomValues(new Uint8Array(count)));
