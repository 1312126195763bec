/** What the inputs of golden vectors have in common: numbers from a fixed seed, and mechanisms as contracts carry them. */
import { threefry } from "../../build/privacy/threefry.js";
import { toHex } from "../../build/protocol/codec.js";

let counter = 0;

/** The inputs of each topic start from a place of their own. */
export function restart(topic) {
  counter = 1_000_000 * topic;
}

/** Uniform between 0 and 1. */
export const uniform = () => threefry(13, 37, counter++, 0)[0] / 2 ** 32;
export const octets = (count) => Uint8Array.from({ length: count }, () => uniform() * 256);
export const hex = (count) => toHex(octets(count));
export const below = (bound) => Math.floor(uniform() * bound);
export const number = (low, high) => Number((low + (high - low) * uniform()).toPrecision(7));
export const vector = (length, scale = 1) => Array.from({ length }, () => number(-scale, scale));
export const decimal = (value) => (Number.isInteger(value) ? value.toFixed(1) : String(value));

export const INTERVAL = { kind: "interval", low: "-1.0", high: "1.0" };
export const OWNER = { epsilon: 4, delta: 0, lifetime: 40, lifetime_delta: 0 };

/** Weights whose ratio is just below e^epsilon. */
export function weights(epsilon) {
  const less = epsilon <= 8 ? 2 ** 20 : 2 ** 10;
  return [Math.floor(less * Math.exp(epsilon) * (1 - 2 ** -50)), less];
}

export function levels(epsilon, count) {
  const [keep, flip] = weights(epsilon);
  return { mechanism: "levels", epsilon, delta: 0, numbers: { levels: count, keep, flip } };
}

export function sphere(epsilon, candidates, cap) {
  const [inside, outside] = weights(epsilon);
  return { mechanism: "sphere", epsilon, delta: 0, numbers: { candidates, cap, inside, outside, mean: "0.5" } };
}

export function laplace(epsilon, ...scales) {
  return { mechanism: "laplace", epsilon, delta: 0, numbers: { scales: scales.map(decimal) } };
}

export function gaussian(epsilon, delta, ...scales) {
  return { mechanism: "gaussian", epsilon, delta, numbers: { scales: scales.map(decimal), formula: "analytic" } };
}
