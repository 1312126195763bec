/** Inputs for what a device does before there is noise: fields, choices by a model, and messages. */
import { below, decimal, INTERVAL, number, uniform, vector } from "./inputs.mjs";

export function* fields() {
  const kinds = [
    () => ({
      kind: "number",
      low: decimal(number(-9, 0)),
      high: decimal(number(1, 99)),
      ...(uniform() < 0.5 && { middle: decimal(number(0.1, 0.9)) }),
    }),
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
  for (const unknown of [{ kind: "number", low: "-1.0", high: "7.0", middle: "5.0" }, kinds[1](), kinds[2]()]) {
    yield [
      `a ${unknown.kind} that is not known`,
      { offers: { ...offers, fields: { one: unknown } }, raw: { one: null } },
    ];
  }
  for (const raw of [{ one: "1" }, { two: 1 }, {}, { one: 1, two: 1 }]) {
    yield [`refused: ${JSON.stringify(raw)}`, { offers, raw }];
  }
  for (const declared of [
    { kind: "number", low: "1.0", high: "1.0" },
    { kind: "category", values: ["a", "a"] },
    { kind: "category", values: ["a"] },
    { kind: "colour" },
    { kind: "flag", low: "0.0" },
    { kind: "number", low: "zero", high: "1.0" },
    { kind: "number", low: "0.0", high: "1.0", middle: "1.5" },
  ]) {
    yield [
      `refused: a field that is ${JSON.stringify(declared)}`,
      { offers: { ...offers, fields: { one: declared } }, raw: { one: 1 } },
    ];
  }
}

export function* choices() {
  for (const kind of ["linear", "generalized", "directed"]) {
    for (const dimension of [1, 2, 6, 16]) {
      for (const chance of [0.9, 0.15]) {
        const parts = { ...modelOf(kind, dimension), ...(kind === "directed" && { contrast: +(chance > 0.5) }) };
        const body = JSON.stringify({ kind, ...parts });
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
}

export function* messages() {
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
}

export function modelOf(kind, dimension) {
  const precision = vector(dimension, 0).map((_, i) =>
    vector(dimension, 0).map((_, j) => (i === j ? number(0.1, 1) : 0.01)),
  );
  const linear = { theta: vector(dimension), precision, width: number(0, 1), explore: 0.2 };
  const anchor = vector(dimension);
  const { theta, explore } = linear;
  const directed = { theta, explore, anchor, clip: number(0.1, 1), by_anchor: 0.3, base: 0, contrast: 0 };
  return { linear, generalized: { ...linear, anchor }, directed }[kind];
}
