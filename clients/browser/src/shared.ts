/** What parts add to, or take from the device because there must be one of each. `scripts/names.mjs` reads it. */

import { unitOf } from "./client/answers.js";
import { newest, set, warn } from "./client/core.js";
import { EXTENSIONS } from "./client/extensions.js";
import { good, received } from "./client/http.js";
import { askStatus, attempt, over } from "./client/network.js";
import { NO_MODEL, OFFERINGS } from "./client/offering.js";
import { reportingOf } from "./client/paying.js";
import { acquire, left, owned, takeOwn } from "./client/permits.js";
import { byTickets } from "./client/tickets.js";
import { WITH_DELTA } from "./privacy/accounting.js";
import { clip, dot, norm, number, ROUNDING } from "./privacy/domains/base.js";
import { domainFrom, DOMAINS } from "./privacy/domains/index.js";
import { integerBelow } from "./privacy/entropy.js";
import { round } from "./privacy/levels.js";
import { mechanismFrom, MECHANISMS } from "./privacy/mechanisms.js";
import { exactSum, NOTHING, pureReport } from "./privacy/spent.js";
import { pack, toHex } from "./protocol/codec.js";
import { digestOf, OFFERS } from "./protocol/contract.js";
import { BadInput, BrokenPromise, ConfigurationError, must, Unreachable, WireError } from "./protocol/errors.js";
import { lookUp, MEANS, MODELS } from "./protocol/registry.js";
import { checked, decoded, finite, maybe, named, read, real, text, whole, word } from "./protocol/strict.js";
import { USERS } from "./users/index.js";

// prettier-ignore
export const shared = [
  acquire, askStatus, attempt, BadInput, BrokenPromise, byTickets, checked, clip, ConfigurationError, decoded,
  digestOf, domainFrom, DOMAINS, dot, exactSum, EXTENSIONS, finite, good, integerBelow, left, lookUp, maybe, MEANS,
  mechanismFrom, MECHANISMS, MODELS, must, named, newest, NO_MODEL, norm, NOTHING, number, OFFERINGS, OFFERS, over,
  owned, pack, pureReport, read, real, received, reportingOf, round, ROUNDING, set, takeOwn, text, toHex, unitOf,
  Unreachable, USERS, warn, whole, WireError, WITH_DELTA, word,
] as const;
