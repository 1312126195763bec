/**
 * The normal distribution in whole numbers, for the codebook: the same in every language. Each number is the mean over one
 * of many parts of equal probability, times 1024 and what gives those of `UPPER` unit
 * variance.
 *
 * They are computed with +, -, * and / alone, whose results are the same on every machine: the way from the centre outwards
 * is walked in small steps of probability. In one of them the place grows by the step over the density, and the density
 * falls by the step times the place. Over a part the density falls by its probability times its mean.
 */

const SCALE = 1024.3807;
const STEPS = 500;

let [place, density] = [0, 0.3989422804014327]; // 1 / sqrt(2 pi)

/** Over so many parts of this probability; the last has no end, so there the density falls to 0. */
function means(parts: number, probability: number): number[] {
  const step = probability / STEPS;
  return Array.from({ length: parts }, (_, part) => {
    let fallen = density;
    for (let i = 0; i < STEPS && part < parts - 1; i++) {
      place += step / density / 2;
      density -= step * place;
      place += step / density / 2;
    }
    if (part < parts - 1) fallen -= density;
    return Math.round((SCALE * fallen) / probability);
  });
}

/** Over each of the 128 upper bins of probability 1/256. */
export const UPPER = means(128, 2 ** -8);

/** Over each 256th part of the outermost bin. */
export const OUTERMOST = means(256, 2 ** -16);
