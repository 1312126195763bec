/** Inputs for contracts, whole reports, ledgers and the wire. */
import { createHash } from "node:crypto";
import { toText } from "../../build/protocol/codec.js";
import { readVectors } from "../vectors.mjs";
import { modelOf } from "./devices.mjs";
import { below, hex, INTERVAL, levels, number, octets, OWNER, uniform, vector } from "./inputs.mjs";

export function* contracts() {
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
}

export function* reports() {
  const given = (task, document, raw, reward, body) => {
    const version = body ? createHash("sha256").update(body).digest("hex").slice(0, 32) : "";
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
      const contrast = reward === 1 ? 1 : 0;
      const body = JSON.stringify({ kind: "directed", ...modelOf("directed", dimension), contrast });
      const rows = [vector(dimension, 0.3), ...(contrast ? [vector(dimension, 0.3), vector(dimension, 0.3)] : [])];
      const document = agreed(recommend, "recommend", epsilon);
      yield [`recommend, reward ${reward}`, given("recommend", document, rows, reward, body)];
    }
  }
}

export function* sums() {
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
}

export function* ledger() {
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
}

export function* wire() {
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
}

/** The contract of a live experiment, as Python wrote it. */
function documentOfTask(task) {
  const vectors = readVectors("contracts", "python");
  return JSON.parse(vectors.find(({ what }) => what === `${task} as it is`).given.contract);
}

function agreed(document, task, epsilon = null, limits = {}) {
  return { contract: JSON.stringify(document), task, limits: { ...OWNER, ...limits }, epsilon };
}
