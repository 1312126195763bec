/** Threefry-2x32, twenty rounds: a counter and a key to two random words (Salmon et al. 2011). */

const ROTATIONS = [13, 15, 26, 6, 17, 29, 16, 24];

/** Both output words for the counter (first, second). All are 32-bit words. */
export function threefry(left: number, right: number, first: number, second: number): Uint32Array {
  const schedule = [left, right, left ^ right ^ 0x1bd11bda];
  let x = (first + left) | 0;
  let y = (second + right) | 0;
  for (let round = 0; round < 20; round++) {
    const by = ROTATIONS[round % 8]!;
    x = (x + y) | 0;
    y = ((y << by) | (y >>> (32 - by))) ^ x;
    if (round % 4 === 3) {
      const group = (round + 1) / 4;
      x = (x + schedule[group % 3]!) | 0;
      y = (y + schedule[(group + 1) % 3]! + group) | 0;
    }
  }
  return Uint32Array.of(x, y);
}
