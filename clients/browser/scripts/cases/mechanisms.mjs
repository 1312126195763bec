/** Inputs for mechanisms: every domain, dimensions 2 to 64, and what is refused. */
import { below, gaussian, hex, INTERVAL, laplace, levels, number, sphere, vector } from "./inputs.mjs";

export function* mechanisms() {
  const drawn = (described, domain, ...raw) => ({ ...described, domain, raw, coin: hex(12), random: hex(4000) });
  for (let dimension = 2; dimension <= 64; dimension += 2) {
    const [domain, raw] = domainOf(dimension);
    const epsilon = [0.5, 1.5, 3, 5, 7, 10, 12][(dimension / 2) % 7];
    const candidates = 2 ** Math.min(Math.ceil(epsilon) + 1, 11);
    const gate = sphere(epsilon, candidates, 1 + below(candidates / 2));
    yield [`sphere: ${domain.kind} in ${dimension} dimensions`, drawn(gate, domain, ...raw)];
  }
  for (const [epsilon, count, value] of [
    [0.001, 2, 0.25],
    [1, 2, -1],
    [1, 2, 1],
    [2, 3, 0],
    [4, 5, 0.5],
    [8, 66, 1e-17],
    [12, 256, -1e308],
    [12, 257, 0.9999999999999999],
    [3, 65536, -0.123456789],
    [11.999, 1000, 5e-324],
  ]) {
    yield [`levels: ${value} on ${count} levels, epsilon ${epsilon}`, drawn(levels(epsilon, count), INTERVAL, value)];
  }
  const ball = { kind: "ball", dimension: 3, bound: "2.0" };
  yield ["sphere: a message of zero", drawn(sphere(4, 32, 3), ball, [0, 0, 0])];
  yield ["sphere: a message as long as can be", drawn(sphere(4, 32, 3), ball, [0, -2, 0])];
  yield ["sphere: a message that is far too long", drawn(sphere(4, 32, 3), ball, [1e308, -1e308, 3])];
  yield ["sphere: equal scores", drawn(sphere(8, 2048, 1000), { kind: "ball", dimension: 1 }, [1e-9])];
  yield ["laplace: a number", drawn(laplace(1, 2.5), INTERVAL, 0.125)];
  yield ["laplace: half a step is rounded to the even one", drawn(laplace(1, 4), INTERVAL, 2 ** -23)];
  yield ["laplace: so are one and a half", drawn(laplace(1, 4), INTERVAL, -3 * 2 ** -23)];
  yield ["laplace: a vector", drawn(laplace(2, 4), { kind: "ball", dimension: 3 }, [0.5, -0.5, 0.25])];
  yield ["laplace: a direction", drawn(laplace(3, 2, 1), { kind: "direction", dimension: 2 }, [3, 4], -7, 2)];
  const moments = { kind: "moments", dimension: 3, reward_bound: "0.5", weight: "0.7" };
  yield ["laplace: moments", drawn(laplace(6, 1.5, 2.2, 1.5), moments, vector(3), 0.4)];
  yield ["gaussian: a number", drawn(gaussian(1, 1e-5, 8), INTERVAL, -0.75)];
  yield ["gaussian: a vector", drawn(gaussian(4, 1e-9, 4), { kind: "gradient", dimension: 4 }, vector(4), 0.5)];
  yield ["gaussian: moments", drawn(gaussian(2, 1e-6, 6, 7, 8), moments, vector(3), -0.4)];
  yield ["gaussian: moments on a line", drawn(gaussian(2, 1e-6, 6, 7, 8), { ...moments, dimension: 1 }, [0.9], 0.1)];
  const relabelled = { kind: "relabelled", dimension: 2, label_bound: "2.0", weight: "0.5" };
  yield ["gaussian: three messages", drawn(gaussian(3, 1e-4, 6, 6, 6, 6), relabelled, vector(2), 0.5, 1.5)];
  for (const [what, gate, domain] of [
    ["too much truth", { ...levels(2, 2), epsilon: 1.999 }, INTERVAL],
    ["an interval the wrong way round", levels(2, 2), { ...INTERVAL, high: "-2.0" }],
    ["weights in decimals", { ...levels(2, 2), numbers: { levels: 2, keep: "3.0", flip: "2.0" } }, INTERVAL],
    ["a missing weight", { ...levels(2, 2), numbers: { levels: 2, keep: 3 } }, INTERVAL],
    ["an epsilon of 13", levels(13, 2), INTERVAL],
    ["a negative epsilon", { ...levels(2, 2), epsilon: -2 }, INTERVAL],
    ["a Laplace scale just too small", laplace(1, 1.9999999), INTERVAL],
    ["a Gaussian scale just too small", gaussian(1, 1e-5, 7.46), INTERVAL],
    ["a scale of zero", laplace(1, 0), INTERVAL],
    ["a dimension of zero", sphere(4, 32, 3), { kind: "ball", dimension: 0 }],
  ]) {
    yield [`refused: ${what}`, drawn(gate, domain, 0.5)];
  }
  const wide = drawn(sphere(4, 65536, 3), { kind: "ball", dimension: 256 }, Array(256).fill(0));
  yield ["refused: a codebook of more than 2^24 numbers", wide];
  yield ["refused: no number", drawn(levels(2, 2), INTERVAL, { number: "nan" })];
  yield ["refused: a list instead of a number", drawn(levels(2, 2), INTERVAL, [0.5])];
  yield ["refused: a number too few", drawn(sphere(4, 32, 3), ball, [0.5, 0.5])];
}

function domainOf(dimension) {
  const kinds = ["ball", "gradient", "direction", dimension <= 10 ? "moments" : "ball"];
  const kind = kinds[(dimension / 2) % 4];
  const raw = { ball: [], gradient: [number(-2, 2)], direction: [number(-1, 1), 0.4], moments: [number(-2, 2)] }[kind];
  const bound = { ball: { bound: "1.25" }, gradient: {}, direction: { share: "0.3" }, moments: { weight: "0.9" } }[
    kind
  ];
  return [{ kind, dimension, ...bound }, [vector(dimension, 2 / Math.sqrt(dimension)), ...raw]];
}
