/**
 * Renews TypeScript's half of the golden vectors, tests/golden/*.typescript.json. `make golden`.
 *
 * The other half is made by scripts/golden.py; tests in both languages read both. Inputs come from a fixed seed;
 * `vectors.mjs` says what TypeScript answers to them.
 */
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { threefry } from "../build/privacy/threefry.js";
import { toHex, toText } from "../build/protocol/codec.js";
import { versionOf } from "../build/protocol/offers.js";
import { answer, bytesOf, FOLDER, readVectors, TOPICS } from "./vectors.mjs";

let counter = 0;
/** Uniform between 0 and 1. */
const uniform = () => threefry(13, 37, counter++, 0)[0] / 2 ** 32;
const octets = (count) => Uint8Array.from({ length: count }, () => uniform() * 256);
const hex = (count) => toHex(octets(count));
const below = (bound) => Math.floor(uniform() * bound);
const number = (low, high) => Number((low + (high - low) * uniform()).toPrecision(7));
const vector = (length, scale = 1) => Array.from({ length }, () => number(-scale, scale));
const decimal = (value) => (Number.isInteger(value) ? value.toFixed(1) : String(value));

const INTERVAL = { kind: "interval", low: "-1.0", high: "1.0" };
const OWNER = { epsilon: 4, delta: 0, lifetime: 40, lifetime_delta: 0 };

/** Weights whose ratio is just below e^epsilon. */
function weights(epsilon) {
  const less = epsilon <= 8 ? 2 ** 20 : 2 ** 10;
  return [Math.floor(less * Math.exp(epsilon) * (1 - 2 ** -50)), less];
}

function levels(epsilon, count) {
  const [keep, flip] = weights(epsilon);
  return { mechanism: "levels", epsilon, delta: 0, numbers: { levels: count, keep, flip } };
}

function sphere(epsilon, candidates, cap) {
  const [inside, outside] = weights(epsilon);
  return { mechanism: "sphere", epsilon, delta: 0, numbers: { candidates, cap, inside, outside, mean: "0.5" } };
}

function laplace(epsilon, ...scales) {
  return { mechanism: "laplace", epsilon, delta: 0, numbers: { scales: scales.map(decimal) } };
}

function gaussian(epsilon, delta, ...scales) {
  return { mechanism: "gaussian", epsilon, delta, numbers: { scales: scales.map(decimal), formula: "analytic" } };
}

const CASES = {
  *mechanisms() {
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
  },

  *fields() {
    const kinds = [
      () => ({ kind: "number", low: decimal(number(-9, 0)), high: decimal(number(1, 99)) }),
      () => ({ kind: "flag" }),
      () => ({ kind: "category", values: ["a", "b", "ß", "ss", "日本"].slice(0, 2 + below(4)) }),
    ];
    const values = { number: () => number(-20, 120), flag: () => uniform() < 0.5, category: () => "abß"[below(3)] };
    const names = [
      "b",
      "B",
      "ä",
      "\u{1F680}",
      "\uFFFD",
      "\u{10FFFF}",
      "_",
      "10",
      "9",
      "a b",
      "a",
      "",
      "__proto__",
      "toString",
    ];
    for (let round = 0; round < 12; round++) {
      const chosen = names.filter(() => uniform() < 0.5);
      const fields = Object.fromEntries([...chosen, "one"].map((name) => [name, kinds[below(3)]()]));
      const raw = () => Object.fromEntries(Object.entries(fields).map(([name, { kind }]) => [name, values[kind]()]));
      const offers = round % 2 ? { actions: ["x", "y"], candidates: 0 } : { actions: [], candidates: 3 };
      yield [`${chosen.length + 1} fields`, { offers: { fields, ...offers }, raw: round % 2 ? raw() : [raw(), raw()] }];
    }
    const fields = { one: { kind: "number", low: "0.0", high: "1.0" } };
    const offers = { fields, actions: ["x"], candidates: 0 };
    for (const raw of [{ one: "1" }, { one: null }, { two: 1 }, {}, { one: 1, two: 1 }]) {
      yield [`refused: ${JSON.stringify(raw)}`, { offers, raw }];
    }
    for (const declared of [
      { kind: "number", low: "1.0", high: "1.0" },
      { kind: "category", values: ["a", "a"] },
      { kind: "category", values: ["a"] },
      { kind: "colour" },
      { kind: "flag", low: "0.0" },
      { kind: "number", low: "zero", high: "1.0" },
    ]) {
      yield [
        `refused: a field that is ${JSON.stringify(declared)}`,
        { offers: { ...offers, fields: { one: declared } }, raw: { one: 1 } },
      ];
    }
  },

  *choices() {
    for (const kind of ["linear", "generalized", "directed"]) {
      for (const dimension of [1, 2, 6, 16]) {
        for (const chance of [0.9, 0.15]) {
          const body = JSON.stringify({ kind, ...modelOf(kind, dimension) });
          const context = Array.from({ length: 2 + below(6) }, () => vector(dimension));
          yield [`${kind} with ${dimension} features`, { kind, dimension, body, context, chance }];
        }
      }
      const body = JSON.stringify({ kind, ...modelOf(kind, 3), theta: [0, 0, 0], width: undefined }).replace(
        "{",
        '{"width":0,',
      );
      const context = [vector(3), vector(3)];
      if (kind !== "directed") yield [`${kind} that knows nothing`, { kind, dimension: 3, body, context, chance: 0.5 }];
    }
    for (const body of ["{}", "[]", "", '{"kind":"linear","theta":[1],"precision":[[1]],"width":true,"explore":0}']) {
      yield [`refused: ${body || "nothing"}`, { kind: "linear", dimension: 1, body, context: [[1]], chance: 0.5 }];
    }
  },

  *messages() {
    const given = (user, domain, reward, rest) => ({
      user,
      domain,
      link: null,
      model: null,
      context: null,
      action: 0,
      reward,
      ...rest,
    });
    for (const dimension of [1, 2, 5, 12]) {
      const [kind, context] = [
        "direction gradient moments relabelled".split(" "),
        [vector(dimension), vector(dimension, 2)],
      ];
      for (const name of ["logistic", "probit", "poisson", "identity"]) {
        const link = { name, radius: 1.5, maximum: 5 };
        const directed = {
          link,
          model: { ...modelOf("directed", dimension), contrast: +(dimension === 5) },
          context,
          action: 1,
        };
        yield [`directed, ${name}`, given("directed", { kind: kind[0], dimension }, number(0, 1), directed)];
        const generalized = { link, model: modelOf("generalized", dimension), context, action: 1 };
        const domain = { kind: kind[1 + below(3)], dimension };
        yield [`generalized, ${name}, ${domain.kind}`, given("generalized", domain, number(0, 1), generalized)];
      }
      const linear = { model: modelOf("linear", dimension), context };
      yield ["linear", given("linear", { kind: kind[2], dimension, weight: "0.5" }, number(-2, 2), linear)];
    }
    yield ["a reward beyond its range", given("scalar", INTERVAL, 17, {})];
    const points = [vector(2), vector(2), vector(2), vector(2)];
    yield ["slopes", given("slope", { kind: "ball", dimension: 2 }, [0.1, 0.2, 0.3, 0.9], { action: points })];
  },

  *contracts() {
    for (const task of ["headline", "recommend"]) {
      const document = documentOfTask(task);
      const gates = [...document.gates].reverse();
      yield [`${task}, with its gates in another order`, agreed({ ...document, gates }, task)];
      yield [`${task}, for another owner`, agreed(document, task, 3, { epsilon: 1.25, lifetime: 12.5 })];
      const { title: _, ...untitled } = document;
      for (const [what, changed] of [
        ["without a title", untitled],
        ["with a delay that is text", { ...document, delay: "soon" }],
        [
          "with a reward on no scale",
          { ...document, reward: { ...document.reward, unit_high: document.reward.unit_low } },
        ],
        ["with a wait before it begins", { ...document, reward: { ...document.reward, wait: -1 } }],
        ["that expires never", { ...document, expires: "never" }],
        ["with numbers in a list", { ...document, domain: [] }],
        ["with an epsilon that is text", { ...document, gates: [{ ...gates[0], epsilon: "much" }] }],
        ["with offers of another kind", { ...document, offers: { ...document.offers, kind: "letters" } }],
        [
          "with neither actions nor candidates",
          { ...document, offers: { ...document.offers, actions: [], candidates: 0 } },
        ],
        [
          "with one gate broken",
          { ...document, gates: document.gates.map((gate) => ({ ...gate, epsilon: gate.epsilon - 1e-6 })) },
        ],
      ]) {
        yield [`refused: ${task} ${what}`, agreed(changed, task)];
      }
      yield [`refused: ${task}, for an owner who allows little`, agreed(document, task, null, { lifetime: 0.1 })];
    }
  },

  *reports() {
    const given = (task, document, raw, reward, body) => {
      const version = body ? versionOf(bytesOf(body)) : "";
      const pending = { permit: toText(octets(29)), nonce: toText(octets(12)), version, raw };
      return { ...document, task, models: body ? [body] : [], pending, reward, random: hex(64) };
    };
    const headline = documentOfTask("headline");
    for (const reward of [0, 0.5, 1, -1, false, null, {}]) {
      for (const epsilon of [null, 1]) {
        yield [
          `headline, reward ${JSON.stringify(reward)}`,
          given("headline", agreed(headline, "headline", epsilon), 1, reward),
        ];
      }
    }
    const recommend = documentOfTask("recommend");
    const { dimension } = recommend.domain;
    for (const reward of [0, 0.25, 1, 1e9]) {
      for (const epsilon of [null, 2]) {
        const body = JSON.stringify({ kind: "directed", ...modelOf("directed", dimension) });
        const document = agreed(recommend, "recommend", epsilon);
        yield [`recommend, reward ${reward}`, given("recommend", document, vector(dimension, 0.3), reward, body)];
      }
    }
  },

  *sums() {
    for (let count = 1; count <= 10; count++) {
      yield [`${count} epsilons`, { pure: Array.from({ length: count }, () => [number(0, 12), 1 + below(1000)]) }];
    }
    yield [
      "ties",
      {
        pure: [
          [2 ** 53, 1],
          [1, 1],
          [3, 1],
        ],
      },
    ];
  },

  *ledger() {
    const hour = 1_790_000_000 - (1_790_000_000 % 3600);
    for (let count = 0; count < 12; count++) {
      const epsilon = [0.25, 0.5, 1, 2][count % 4];
      const delta = count % 3 ? 0 : 1e-7;
      const cost = () => ({ pure: [[[0.25, 0.5, 1, 2][below(4)], 1]], squared: 0, coordinates: 0 });
      const entries = Array.from({ length: 3 * count }, () => [cost(), hour - 3600 * below(100), uniform() < 0.7]);
      const limit = {
        lifetime: 20.5,
        lifetime_delta: delta,
        window: [4, 6, 30][count % 3],
        window_days: 1 + (count % 4),
      };
      const mechanism = { ...levels(epsilon, 2), domain: INTERVAL };
      yield [
        `${3 * count} entries`,
        { mechanism, limits: { ...OWNER, lifetime_delta: delta }, limit, entries, now: hour + number(0, 9999) },
      ];
    }
  },

  *wire() {
    for (const length of [3, 31, 32, 57, 100, 1000]) yield [`${length} bytes`, { bytes: hex(length) }];
    for (const text of ["", "AAAA", "AAA", "AAB", "A-_z", "A===", "A A A", "AA\u0000A", "ＡＡ"])
      yield [`text ${JSON.stringify(text)}`, { text }];
    yield ["three commitments", { nonces: [hex(12), hex(12), hex(12)] }];
    yield ["a coin", { permit: toText(octets(40)), nonce: toText(octets(12)) }];
    for (const bound of ["7", "128", "3898901", "129180682", "9007199254740881", "158456343917995169615622176768"]) {
      yield [`an integer below ${bound}`, { bound, random: "ff".repeat(3) + hex(300) }];
    }
    for (const decimal of ["0.1", "-1.5e+10", "3.141592653589793", "2.2250738585072014e-308", "01.5", ".5", "1,5"]) {
      yield [`the number ${decimal}`, { decimal }];
    }
  },
};

function domainOf(dimension) {
  const kinds = ["ball", "gradient", "direction", dimension <= 10 ? "moments" : "ball"];
  const kind = kinds[(dimension / 2) % 4];
  const raw = { ball: [], gradient: [number(-2, 2)], direction: [number(-1, 1), 0.4], moments: [number(-2, 2)] }[kind];
  const bound = { ball: { bound: "1.25" }, gradient: {}, direction: { share: "0.3" }, moments: { weight: "0.9" } }[
    kind
  ];
  return [{ kind, dimension, ...bound }, [vector(dimension, 2 / Math.sqrt(dimension)), ...raw]];
}

function modelOf(kind, dimension) {
  const precision = vector(dimension, 0).map((_, i) =>
    vector(dimension, 0).map((_, j) => (i === j ? number(0.1, 1) : 0.01)),
  );
  const linear = { theta: vector(dimension), precision, width: number(0, 1), explore: 0.2 };
  const anchor = vector(dimension);
  const { theta, explore } = linear;
  const directed = { theta, explore, anchor, clip: number(0.1, 1), by_anchor: 0.3, base: 0, contrast: 0 };
  return { linear, generalized: { ...linear, anchor }, directed }[kind];
}

/** The contract of a live experiment, as Python wrote it. */
function documentOfTask(task) {
  const vectors = readVectors("contracts", "python");
  return JSON.parse(vectors.find(({ what }) => what === `${task} as it is`).given.contract);
}

function agreed(document, task, epsilon = null, limits = {}) {
  return { contract: JSON.stringify(document), task, limits: { ...OWNER, ...limits }, epsilon };
}

/** The file, a vector a line. Written randomness is cut to what was used. */
export function textOf(topic) {
  counter = 1_000_000 * TOPICS.indexOf(topic);
  const lines = Array.from(CASES[topic](), ([what, given]) => {
    const gives = answer(topic, given);
    if (given.random) given = { ...given, random: given.random.slice(0, 2 * (gives.used ?? 0)) };
    return JSON.stringify({ what, given, gives });
  });
  return `[\n${lines.join(",\n")}\n]\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const topic of TOPICS) writeFileSync(new URL(`${topic}.typescript.json`, FOLDER), textOf(topic));
}
