/** What `delta.js`, `holdout.js` and `learners.js` add to, or take from here because there must be one of each. */

import { EXTENSIONS } from "./client/extensions.js";
import { WITH_DELTA } from "./privacy/accounting.js";
import { domainFrom, DOMAINS } from "./privacy/domains/index.js";
import { mechanismFrom } from "./privacy/mechanisms.js";
import { must } from "./protocol/errors.js";
import { MEANS } from "./protocol/links.js";
import { MODELS } from "./protocol/offers.js";
import { USERS } from "./users/index.js";

export const shared = { domainFrom, DOMAINS, EXTENSIONS, MEANS, mechanismFrom, MODELS, must, USERS, WITH_DELTA };
