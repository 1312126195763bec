/**
 * SHA-256 (FIPS 180-4), at once: `crypto.subtle` answers later, which ends a transaction of IndexedDB, and pages
 * without https do not have it.
 */

const primes: number[] = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime)) primes.push(n);

/** The first 32 bits of the fraction; double precision has 14 more than are needed. */
const fraction = (root: number) => (root % 1) * 2 ** 32;
const START = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const ROUNDS = Uint32Array.from(primes, (prime) => fraction(prime ** (1 / 3)));

const turned = (word: number, by: number) => (word >>> by) | (word << (32 - by));

export function sha256(data: Uint8Array): Uint8Array {
  const padded = new Uint8Array(((data.length + 72) >> 6) << 6);
  const view = new DataView(padded.buffer);
  padded.set(data);
  padded[data.length] = 0x80;
  view.setUint32(padded.length - 8, data.length / 2 ** 29);
  view.setUint32(padded.length - 4, data.length << 3);
  const hash = Uint32Array.from(START);
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 64; i++) {
      if (i < 16) {
        words[i] = view.getUint32(block + 4 * i);
      } else {
        const x = words[i - 15]!;
        const y = words[i - 2]!;
        const left = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3);
        const right = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10);
        words[i] = words[i - 16]! + left + words[i - 7]! + right;
      }
    }
    let [a, b, c, d, e, f, g, h] = hash as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const chosen = (e & f) ^ (~e & g);
      const first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + ROUNDS[i]! + words[i]!) | 0;
      const most = (a & b) ^ (a & c) ^ (b & c);
      const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + most;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (hash[i]! += word));
  }
  const digest = new DataView(new ArrayBuffer(32));
  hash.forEach((word, i) => digest.setUint32(4 * i, word));
  return new Uint8Array(digest.buffer);
}
