/** What parts add to, or take from the device because there must be one of each. `scripts/names.mjs` reads it. */

import { unitOf } from "./client/answers.js";
import { newest, set, warn } from "./client/core.js";
import { EXTENSIONS } from "./client/extensions.js";
import { good, received } from "./client/http.js";
import { askStatus, attempt, over } from "./client/network.js";
import { OFFERINGS } from "./client/offering.js";
import { reportingOf } from "./client/paying.js";
import { commit, keep, left, owned, takeOwn } from "./client/permits.js";
import { byTickets } from "./client/tickets.js";
import { WITH_DELTA } from "./privacy/accounting.js";
import { verifyWeights } from "./privacy/base.js";
import { domainFrom, DOMAINS } from "./privacy/domains/index.js";
import { mechanismFrom, MECHANISMS } from "./privacy/mechanisms.js";
import { digestOf, OFFERS } from "./protocol/contract.js";
import { must } from "./protocol/errors.js";
import { lookUp, MEANS, MODELS } from "./protocol/registry.js";
import { decoded, finite, maybe, named, read, real, text, whole, word } from "./protocol/strict.js";
import { USERS } from "./users/index.js";

// prettier-ignore
export const shared = [
  askStatus, attempt, byTickets, commit, decoded, digestOf, domainFrom, DOMAINS, EXTENSIONS, finite, good, keep, left,
  lookUp, maybe, MEANS, mechanismFrom, MECHANISMS, MODELS, must, named, newest, OFFERINGS, OFFERS, over, owned, read, real, received,
  reportingOf, set, takeOwn, text, unitOf, USERS, verifyWeights, warn, whole, WITH_DELTA, word,
] as const;
