/**
 * SHA-256 (FIPS 180-4), at once: `crypto.subtle` answers later, which ends a transaction of IndexedDB, and pages
 * without https do not have it. For data below 2^29 bytes.
 */

const primes: number[] = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime)) primes.push(n);

/** The first 32 bits of the fraction; double precision has 14 more than are needed. */
const fraction = (root: number) => ((root % 1) * 2 ** 32) | 0;
const START = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const ROUNDS = primes.map((prime) => fraction(prime ** (1 / 3)));

const turned = (word: number, by: number) => (word >>> by) | (word << (32 - by));

export function sha256(data: Uint8Array): Uint8Array {
  const padded = new Uint8Array(((data.length + 72) >> 6) << 6);
  const view = new DataView(padded.buffer);
  padded.set(data);
  padded[data.length] = 0x80;
  view.setUint32(padded.length - 4, data.length << 3);
  let hash = START;
  for (let block = 0; block < padded.length; block += 64) {
    const words: number[] = [];
    let state = hash as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const [x, y] = [words[i - 15]!, words[i - 2]!];
      const word =
        i < 16
          ? view.getUint32(block + 4 * i)
          : words[i - 16]! +
            words[i - 7]! +
            (turned(x, 7) ^ turned(x, 18) ^ (x >>> 3)) +
            (turned(y, 17) ^ turned(y, 19) ^ (y >>> 10));
      words.push(word | 0);
      const [a, b, c, d, e, f, g, h] = state;
      const first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i]! + words[i]!;
      const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      state = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    }
    hash = hash.map((word, i) => (word + state[i]!) | 0);
  }
  hash.forEach((word, i) => view.setInt32(4 * i, word));
  return padded.slice(0, 32);
}
