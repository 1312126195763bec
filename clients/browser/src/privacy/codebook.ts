/**
 * The public codebook of the sphere mechanism: a coin names its unit vectors, the same on every machine.
 *
 * Candidates come in pairs of opposite vectors: 2 p and 2 p + 1 are pair p and its negative. Integers throughout:
 * Threefry turns (coin, pair, block) into eight bytes, each byte into an integer. A candidate is that integer vector over
 * its norm. Scores are an exact integer over one correctly rounded square root, so two languages rank alike.
 */

import { OUTERMOST, UPPER } from "./normalTable.js";
import { threefry } from "./threefry.js";

/** Eight bytes of key and four of counter. */
export const COIN_BYTES = 12;

/** Combined with the counter's second word, it names the stream of the second bytes. */
const OUTER_STREAM = 0x7a11;

/** The first vector of a pair. */
export function pair(coin: Uint8Array, index: number, dimension: number): Int32Array {
  const words = new DataView(coin.buffer, coin.byteOffset);
  const [left, right, second] = [0, 4, 8].map((place) => words.getUint32(place)) as [number, number, number];
  const start = index * Math.ceil(dimension / 8);
  const found = new Int32Array(dimension);
  let block!: Uint32Array;
  for (let i = 0; i < dimension; i++) {
    if (i % 8 === 0) block = threefry(left, right, start + i / 8, second);
    const octet = (block[(i >> 2) & 1]! >>> (8 * (i & 3))) & 255;
    let size = UPPER[octet > 127 ? octet - 128 : 127 - octet]!;
    // The outermost bins: a second byte says how far out.
    if (octet % 255 === 0) size = OUTERMOST[threefry(left, right, start * 8 + i, second ^ OUTER_STREAM)[0]! & 255]!;
    found[i] = octet > 127 ? size : -size;
  }
  return found;
}

/** Candidates from the nearest to the lifted message to the farthest, ties by index. */
export function ranking(coin: Uint8Array, lifted: number[], count: number): number[] {
  const scores: number[] = [];
  for (let index = 0; index < count / 2; index++) {
    let [inner, squared] = [0, 0];
    pair(coin, index, lifted.length).forEach((x, i) => {
      inner += x * lifted[i]!;
      squared += x * x;
    });
    const score = inner / Math.sqrt(squared);
    scores.push(score, -score);
  }
  return scores.map((_, i) => i).sort((a, b) => scores[b]! - scores[a]!);
}
