/**
 * What tasks with features need: fields, models and the choice by them, permits, links, the mechanism `sphere`, and the
 * learner that the guide names first, `scale-free`. The device loads it for a contract that needs it; it registers itself
 * there. A page may import it too.
 */

import { byModel as offering } from "./client/byModel.js";
import { OFFERINGS } from "./client/offering.js";
import { direction } from "./privacy/domains/direction.js";
import { DOMAINS } from "./privacy/domains/index.js";
import { MECHANISMS } from "./privacy/mechanisms.js";
import { sphere } from "./privacy/sphere.js";
import { byModel as offers } from "./protocol/byModel.js";
import { OFFERS } from "./protocol/contract.js";
import { MEANS, MODELS } from "./protocol/registry.js";
import { maybe, real, whole } from "./protocol/strict.js";
import { directedUser } from "./users/directed.js";
import { USERS } from "./users/index.js";

Object.assign(OFFERS, { model: offers });
Object.assign(OFFERINGS, { model: offering });
Object.assign(MODELS, { directed: "theta1 explore anchor1 clip by_anchor base contrast" });
Object.assign(USERS, { directed: directedUser });
Object.assign(MEANS, {
  logistic: (z: number) => (1 + Math.tanh(z / 2)) / 2,
  poisson: Math.exp,
  identity: (z: number) => z,
});
Object.assign(MECHANISMS, { sphere });
Object.assign(DOMAINS, { direction: [direction, { dimension: whole, share: maybe(real, 0.2) }] });
