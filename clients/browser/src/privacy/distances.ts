/**
 * How far apart two messages of a domain can be, once each block is divided by its scale: what noise is measured by. The
 * proofs are in the Python package, in each domain's docstring.
 */

import { clip, norm, ROUNDING, type Domain, type Vector } from "./domains/base.js";
import { moments } from "./domains/moments.js";

type Numbers = readonly number[];

/** What noise must know of a kind of domain, as functions of the domain's numbers. */
interface Distances {
  /** The lengths of the message's blocks. */
  blocks(numbers: Numbers): number[];
  /** The largest distance of two messages, Euclidean and in L1. */
  l2(numbers: Numbers, scales: Numbers): number;
  l1(numbers: Numbers, scales: Numbers): number;
  /** Whether `embed` could have formed this message. */
  contains(numbers: Numbers, message: Vector): boolean;
}

function inBall(dimensionOf: (numbers: Numbers) => number, boundOf: (numbers: Numbers) => number): Distances {
  return {
    blocks: (numbers) => [dimensionOf(numbers)],
    l2: (numbers, [scale]) => (2 * boundOf(numbers)) / scale!,
    l1: (numbers, [scale]) => Math.sqrt(dimensionOf(numbers)) * ((2 * boundOf(numbers)) / scale!),
    contains: (numbers, message) => norm(message) <= boundOf(numbers) * (1 + ROUNDING),
  };
}

const ball = inBall(
  ([dimension]) => dimension!,
  ([, bound]) => bound!,
);

const direction: Distances = {
  blocks: ([dimension]) => [dimension!, 1],
  l2: ([, share], [first, second]) => 2 * Math.hypot(1 / first!, share! / second!),
  l1: ([dimension, share], [first, second]) => 2 * (Math.sqrt(dimension!) / first! + share! / second!),
  contains: ([, share], message) =>
    norm(message.slice(0, -1)) <= 1 + ROUNDING && Math.abs(message.at(-1)!) <= share! * (1 + ROUNDING),
};

const byMoments: Distances = {
  blocks: ([d]) => [d!, (d! * (d! - 1)) / 2, d!],
  l2([d, , weight], [diagonal, upper, vector]) {
    const matrix = d! > 1 ? Math.min(diagonal!, upper!) : diagonal!;
    const w = (weight! * matrix) / vector!;
    const joint = w <= Math.SQRT2 ? (2 + w ** 2) / Math.SQRT2 : 2 * w;
    return (d! > 1 ? joint : jointOnALine(w)) / matrix;
  },
  l1([d, , weight], [diagonal, upper, vector]) {
    const triangle = d! > 1 ? Math.min(diagonal!, upper! / Math.SQRT2) : diagonal!;
    const spread = d! > 1 ? Math.sqrt((d! * (d! + 3)) / 2) : 1;
    return spread / triangle + (2 * weight! * Math.sqrt(d!)) / vector!;
  },
  /**
   * The largest diagonal entry of x x' is the square of x's largest coordinate; divided by that coordinate its row is x,
   * up to a sign that neither x x' nor y x tells, and that entry of y x is y.
   */
  contains([dimension, bound, w], message) {
    const [d, rewardBound, weight] = [dimension!, bound!, w!];
    const [, radius, embed] = moments(d, rewardBound, weight);
    if (!message.every((m) => Math.abs(m) <= radius * (1 + ROUNDING))) return false;
    const squares = message.slice(0, d);
    const place = squares.indexOf(Math.max(...squares));
    const largest = Math.sqrt(Math.max(squares[place]!, 0)) || Infinity; // x = 0 if there is no positive entry
    const product = (i: number) => {
      const row = Math.min(i, place);
      return message[d + row * d - (row * (row + 1)) / 2 + Math.abs(i - place) - 1]! / Math.SQRT2;
    };
    const x = squares.map((square, i) => (i === place ? square : product(i)) / largest);
    const y = message[message.length - d + place]! / largest / weight;
    const formed = embed(x, clip(y, -1, 1) * rewardBound);
    const apart = message.map((m, i) => m - formed[i]!);
    return norm(apart.slice(0, -d)) <= ROUNDING && norm(apart.slice(-d)) <= ROUNDING * weight;
  },
};

/** Moments in one dimension: the farthest point from x = 1, y = 1 is y = -1 at some 0 < s <= 1. */
function jointOnALine(weight: number): number {
  if (weight ** 2 >= 0.5) return 2 * weight;
  const s = (1 - Math.sqrt(1 - 2 * weight ** 2)) / 2;
  return Math.max(2 * weight, (1 + s) * Math.sqrt((1 - s) ** 2 + weight ** 2));
}

const relabelled: Distances = {
  blocks: ([d]) => [...byMoments.blocks([d!]), d!],
  l2([d, label, , weight], scales) {
    const vectors = Math.hypot(label! / scales[2]!, weight! / scales[3]!);
    return byMoments.l2([d!, 1, vectors], [scales[0]!, scales[1]!, 1]);
  },
  l1([d, label, , weight], scales) {
    const vectors = label! / scales[2]! + weight! / scales[3]!;
    return byMoments.l1([d!, 1, vectors], [scales[0]!, scales[1]!, 1]);
  },
  contains([d, label, residual, weight], message) {
    const gradients = [...message.slice(0, -2 * d!), ...message.slice(-d!)];
    return (
      byMoments.contains([d!, label!, label!], message.slice(0, -d!)) &&
      byMoments.contains([d!, residual!, weight!], gradients)
    );
  },
};

const DISTANCES: Record<string, Distances> = {
  interval: inBall(
    () => 1,
    () => 1,
  ),
  ball,
  gradient: ball,
  direction,
  moments: byMoments,
  relabelled,
};

export function distancesOf(domain: Domain): {
  blocks: number[];
  l2(scales: Numbers): number;
  l1(scales: Numbers): number;
  contains(message: Vector): boolean;
} {
  const { numbers, kind } = domain;
  const { blocks, l2, l1, contains } = DISTANCES[kind]!;
  return {
    blocks: blocks(numbers),
    l2: (scales) => l2(numbers, scales),
    l1: (scales) => l1(numbers, scales),
    contains: (message) => contains(numbers, message),
  };
}
