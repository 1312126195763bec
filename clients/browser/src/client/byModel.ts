/** Tasks with a model: the device chooses by it, from fields. Part of `features.js`. */

import type { Vector } from "../privacy/domains/index.js";
import { dimensionOf, permits, type ByModel } from "../protocol/byModel.js";
import { BadInput, ConfigurationError, must, WireError } from "../protocol/errors.js";
import { modelFrom, versionOf, type Model } from "../protocol/offers.js";
import { features } from "../users/fields.js";
import { userOf } from "../users/linked.js";
import { unitOf } from "./answers.js";
import { newest, set, warn, type Core, type Known } from "./core.js";
import { good, received } from "./http.js";
import { askStatus, attempt, over } from "./network.js";
import { NO_MODEL, type Made, type Offering } from "./offering.js";
import { reportingOf } from "./paying.js";
import { acquire, left, owned, takeOwn } from "./permits.js";
import type { Terms } from "./terms.js";

/** Characters that a number of a model may take, on average. */
const LARGEST_NUMBER = 32;
/** A permit that is missing is fetched after up to so many seconds, at random. */
const PAUSE = 600;

const offersOf = ({ contract }: Terms) => contract.offers as ByModel;
const userIn = (core: Terms) => userOf(offersOf(core))(core.mechanism.domain);

export const byModel: Offering = {
  ahead: 2,
  consistent({ offers, domain }) {
    const { fields, actions, candidates } = offers as ByModel;
    userOf(offers as ByModel);
    return (
      Object.keys(fields).length > 0 &&
      actions.length > 0 !== candidates > 0 &&
      dimensionOf(offers as ByModel) === domain["dimension"]
    );
  },
  async decide(core, first, fields, baseline) {
    if (!newest(core.row)) await first(() => attempt(core, () => askStatus(core)));
    if (owned(core) && !core.own.length) await first(() => left(core));
    return decideNow(core, fields, baseline);
  },
  decideNow,
  async fetchAhead(core, number) {
    for (; number > 0; number--) {
      await acquire(core, "/permits", 1, (answer) => [received(answer, permits).permits, { nextPermit: 0 }]);
    }
  },
  async dueOf(core) {
    if (core.row.nextPermit <= 0 || core.row.nextPermit > core.now() + PAUSE) {
      await set(core, { nextPermit: core.now() + core.entropy.below(1000 * PAUSE) / 1000 });
    }
    return +over(core, core.row.nextPermit, PAUSE);
  },
  update: fetchModel,
  validFor: ({ reward, delay }) => reward.wait + delay,
  naming: ({ permit, nonce, version }) => ({ permit, nonce, version }),
  messageFor(core, { raw, version }, reward) {
    const model = modelOf(core, version);
    return model && userIn(core).message(model, raw as Vector[], 0, unitOf(core.contract, reward));
  },
};

/**
 * For an apprentice and in a holdout the app's own choice; for bad input, or without a model, any action. In a task with a
 * holdout the permit is taken first: it says what the report will be for.
 */
function decideNow(core: Core, fields: unknown, baseline: number | string): Made {
  const { measuring } = core;
  const kept = core.row.models.at(-1);
  const model = kept && modelOf(core, kept.version);
  const offers = offersOf(core);
  const [context, bad] = contextOf(offers, fields);
  if (bad && core.strict) throw new BadInput(bad);
  if (bad) warn(bad);
  const chance = core.entropy.below(2 ** 53) / 2 ** 53;
  const apprentice = core.row.mode === "apprentice";
  const own = measuring && model && reportingOf(core) === "on" ? takeOwn(core) : undefined;
  const measured = own && measuring!(own.coin);
  const shown = apprentice || measuring ? baselineOf(offers, baseline, context.length) : 0;
  const action =
    apprentice || measured?.baseline
      ? shown
      : bad || !model
        ? Math.floor(chance * context.length)
        : userIn(core).act(model, context, chance);
  if (!model) return [action, bad || NO_MODEL];
  const raw = measured ? [] : keptOf(model, context, action);
  const nothing = apprentice && measured?.baseline === false && "an apprentice shows nothing learned";
  return [action, bad, { model: kept, raw, own, nothing }];
}

/** Features, one row per action; for bad input rows of zeros, which say nothing, and what was wrong. */
function contextOf(offers: ByModel, raw: unknown): [context: Vector[], problem: string] {
  try {
    return [features(offers, raw), ""];
  } catch (error) {
    const given = Array.isArray(raw) ? raw.length : 1;
    const rows = offers.actions.length || Math.max(1, Math.min(given, offers.candidates));
    const zeros = Array.from({ length: rows }, () => Array<number>(dimensionOf(offers)).fill(0));
    return [zeros, error instanceof BadInput ? error.message : "not fields"];
  }
}

/** The rows of features that the message will need, the chosen one first; a contrast is one with all the others. */
export function keptOf(model: Model, context: Vector[], action: number): Vector[] {
  const contrast = "contrast" in model && model.contrast > 0;
  return [context[action]!, ...context.filter((_, i) => contrast && i !== action)];
}

/** The app's own choice among so many actions, by its number or its name. */
function baselineOf(offers: ByModel, baseline: number | string, number: number): number {
  const index = typeof baseline === "string" ? offers.actions.indexOf(baseline) : baseline;
  const fits = Number.isInteger(index) && 0 <= index && index < number;
  must(fits, ConfigurationError, `one of ${number} actions as the baseline`, baseline);
  return index;
}

async function fetchModel(core: Core, told: string): Promise<void> {
  const body = good(await core.ask("/model"));
  const version = core.vault ? await versionOf(body) : told; // where nothing is reported the server's word is enough
  read(core, body);
  await set(core, {}, (row) => {
    const needed = row.decisions.map((decision) => decision.version);
    row.models = row.models.filter((one) => one.version !== version && needed.includes(one.version));
    row.models.push({ version, body });
  });
}

/** The model of this version, unless it was thrown away. */
function modelOf(core: Known, version: string): Model | undefined {
  const kept = core.row.models.find((one) => one.version === version);
  if (kept && version !== core.version) Object.assign(core, { model: read(core, kept.body), version });
  return kept && core.model;
}

function read(core: Terms, body: Uint8Array): Model {
  const offers = offersOf(core);
  const dimension = dimensionOf(offers);
  const most = LARGEST_NUMBER * (dimension + 3) ** 2;
  must(body.length <= most, WireError, `a model of up to ${most} bytes`, body.length);
  return modelFrom(body, offers.model, dimension);
}
