/**
 * What TypeScript answers to a golden vector. Each topic is a function from what is `given` to what it `gives`; the
 * same topics as in tests/vectors.py, which says what a vector is.
 */
import { readFileSync } from "node:fs";
import "../build/delta.js";
import "../build/features.js";
import "../build/holdout.js";
import "../build/learners.js";
import { documentOf, messageOf } from "../build/client/answers.js";
import { keptOf } from "../build/client/byModel.js";
import { accountOf, limitsOf } from "../build/client/ledger.js";
import { accept } from "../build/client/terms.js";
import { domainFrom } from "../build/privacy/domains/index.js";
import { privatise } from "../build/privacy/drawing.js";
import { entropyFrom, integerBelow } from "../build/privacy/entropy.js";
import { mechanismFrom } from "../build/privacy/mechanisms.js";
import { total } from "../build/privacy/spent.js";
import { fromText, toHex, toText } from "../build/protocol/codec.js";
import { digestOf } from "../build/protocol/contract.js";
import { SottovoceError } from "../build/protocol/errors.js";
import { field } from "../build/protocol/fields.js";
import { link } from "../build/protocol/links.js";
import { modelFrom, versionOf } from "../build/protocol/offers.js";
import { coinOf, commitmentOf } from "../build/protocol/permits.js";
import { named, read, real } from "../build/protocol/strict.js";
import { commitmentsBody } from "../build/protocol/wire.js";
import { features } from "../build/users/fields.js";
import { userOf } from "../build/users/linked.js";
import { slopeMessage } from "../build/users/slope.js";

export const FOLDER = new URL("../../../tests/golden/", import.meta.url);
export const SIDES = ["python", "typescript"];
/** How far numbers may be apart, relative to 1 or to themselves; in the other topics not at all. Bytes never. */
export const TOLERANCE = { mechanisms: 1e-12, messages: 1e-12, ledger: 1e-9 };

export const bytesOf = (text) => new TextEncoder().encode(text);
export const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** Randomness from written bytes; `used` says how many were taken. */
export function written(hex) {
  const data = fromHex(hex);
  const source = { used: 0 };
  const octets = (count) => {
    const taken = data.slice(source.used, (source.used += count));
    if (taken.length < count) throw new Error("more randomness was asked for than is written down");
    return taken;
  };
  return Object.assign(source, entropyFrom(octets));
}

const mechanismOf = ({ mechanism, domain, epsilon, delta, numbers }) =>
  mechanismFrom(mechanism, domainFrom(domain), { epsilon, delta }, numbers);

const accepted = ({ contract, task, limits, epsilon }) => {
  const { lifetime_delta: lifetimeDelta, ...rest } = limits;
  return accept(bytesOf(contract), task, limitsOf({ ...rest, lifetimeDelta }), epsilon ?? undefined);
};

/** What is reported in tasks with tickets. */
const BY_TICKET = {
  scalar: (domain, _points, reward) => domain.embed(reward),
  slope: slopeMessage,
};

const ANSWERS = {
  mechanisms(given) {
    const mechanism = mechanismOf(given);
    const entropy = written(given.random);
    const message = mechanism.domain.embed(...given.raw);
    const report = privatise(mechanism, message, entropy, fromHex(given.coin));
    return { message, report: toHex(report), used: entropy.used };
  },
  fields({ offers, raw }) {
    return { context: features({ ...offers, fields: read(named(field), offers.fields, "fields") }, raw) };
  },
  async choices({ kind, body, dimension, context, chance }) {
    const model = modelFrom(bytesOf(body), kind, dimension);
    const user = userOf({ model: kind, link: kind === "linear" ? null : {} })(null);
    const action = user.act(model, context, chance);
    return { version: await versionOf(bytesOf(body)), action, kept: keptOf(model, context, action) };
  },
  messages({ user, domain, link: declared, model, context, action, reward }) {
    const [found, of] = [domainFrom(domain), declared && link(declared, "link")];
    const message = BY_TICKET[user]?.(found, action, reward);
    return { message: message ?? userOf({ model: user, link: of })(found).message(model, context, action, reward) };
  },
  async contracts(given) {
    const { digest, gate, mechanisms } = await accepted(given);
    return { digest, gate, mechanisms: mechanisms.map((one) => [one.budget.epsilon, one.coinSize, one.reportSize]) };
  },
  async reports(given) {
    const terms = await accepted(given);
    const { mechanism, gate } = terms;
    const bodies = given.models.map(bytesOf);
    const models = await Promise.all(bodies.map(async (body) => ({ version: await versionOf(body), body })));
    const { permit, nonce } = given.pending;
    const pending = { ...given.pending, gate, coin: await coinOf(fromText(permit), fromText(nonce)) };
    const message = messageOf({ ...terms, row: { models } }, pending, given.reward);
    const entropy = written(given.random);
    const drawn = privatise(mechanism, message, entropy, pending.coin);
    const report = JSON.stringify(documentOf(terms, pending, drawn));
    return { digest: await digestOf(bytesOf(given.contract)), report, used: entropy.used };
  },
  sums({ pure }) {
    const merged = new Map();
    for (const [epsilon, count] of pure) merged.set(epsilon, (merged.get(epsilon) ?? 0) + count);
    return { total: total({ pure: [...merged].sort(([a], [b]) => a - b), squared: 0, coordinates: 0 }) };
  },
  ledger({ mechanism, limits, limit, entries, now }) {
    const { lifetime_delta: lifetimeDelta, ...rest } = limits;
    const rows = entries.map(([cost, hour, own]) => ({ cost, hour, joined: own ? "this" : "another" }));
    const account = accountOf(limitsOf({ ...rest, lifetimeDelta }), limit, rows, "this");
    const one = mechanismOf(mechanism);
    const { spent, windowSpent, spentByAll, reportsLeft } = account.balance(one, now);
    const affords = account.affords(one, now);
    return { spent, window_spent: windowSpent, spent_by_all: spentByAll, reports_left: reportsLeft, affords };
  },
  async wire(given) {
    if ("bytes" in given) {
      const octets = fromHex(given.bytes);
      return { text: toText(octets), sha256: await digestOf(octets) };
    }
    if ("text" in given) return { bytes: toHex(fromText(given.text)) };
    if ("nonces" in given) {
      const commitments = await Promise.all(given.nonces.map((nonce) => commitmentOf(fromHex(nonce))));
      return { body: commitmentsBody(commitments.map(toText)) };
    }
    if ("permit" in given) return { coin: toHex(await coinOf(fromText(given.permit), fromText(given.nonce))) };
    if ("bound" in given) {
      const entropy = written(given.random);
      return { drawn: String(integerBelow(BigInt(given.bound), entropy.octets)), used: entropy.used };
    }
    return { number: read(real, given.decimal, "a number") };
  },
};

export const TOPICS = Object.keys(ANSWERS);

/** What TypeScript gives, as JSON has it; input that is refused gives `{ refused: true }`. */
export async function answer(topic, given) {
  try {
    return plain(await ANSWERS[topic](revived(given)));
  } catch (error) {
    if (error instanceof SottovoceError) return { refused: true };
    throw error;
  }
}

/** What JSON cannot say is `{"number": "nan"}`, with the words of Python. */
const WORDS = { nan: NaN, inf: Infinity, "-inf": -Infinity };

function revived(value) {
  if (Array.isArray(value)) return value.map(revived);
  if (typeof value !== "object" || value === null) return value;
  if (value.number in WORDS) return WORDS[value.number];
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, revived(one)]));
}

function plain(value) {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return { number: Object.keys(WORDS).find((word) => Object.is(WORDS[word], value)) };
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

/** Are two answers the same, but for the last digits of numbers that are not whole? */
export function agree(found, wanted, tolerance) {
  if (typeof found === "number" && typeof wanted === "number") {
    return Math.abs(found - wanted) <= tolerance * Math.max(1, Math.abs(wanted));
  }
  if (typeof found !== "object" || typeof wanted !== "object" || found === null || wanted === null) {
    return found === wanted;
  }
  const names = Object.keys(found);
  return (
    names.length === Object.keys(wanted).length && names.every((name) => agree(found[name], wanted[name], tolerance))
  );
}

export function readVectors(topic, side) {
  return JSON.parse(readFileSync(new URL(`${topic}.${side}.json`, FOLDER), "utf8"));
}
