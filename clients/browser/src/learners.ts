/**
 * What tasks with less usual learners need: linucb, glm and gradient, and those whose actions are points.
 * The device loads it for a contract that needs it; it registers itself there. A page may import it too.
 */

import { OFFERINGS } from "./client/offering.js";
import { points } from "./client/points.js";
import { ball, gradient } from "./privacy/domains/ball.js";
import { DOMAINS } from "./privacy/domains/index.js";
import { moments } from "./privacy/domains/moments.js";
import { relabelled } from "./privacy/domains/relabelled.js";
import { normalMean } from "./protocol/probit.js";
import { MEANS, MODELS } from "./protocol/registry.js";
import { maybe, real, whole } from "./protocol/strict.js";
import { USERS } from "./users/index.js";
import { generalizedUser, linearUser } from "./users/optimistic.js";

/** A positive number, 1 where it is left out. */
const one = maybe(real, 1);
const linear = "theta1 precision2 width explore";

Object.assign(OFFERINGS, { points });
Object.assign(MODELS, { linear, generalized: `${linear} anchor1` });
Object.assign(USERS, { linear: linearUser, generalized: generalizedUser });
Object.assign(MEANS, { probit: normalMean });
Object.assign(DOMAINS, {
  ball: [ball, { dimension: whole, bound: one }],
  gradient: [gradient, { dimension: whole, bound: one }],
  moments: [moments, { dimension: whole, reward_bound: one, weight: one }],
  relabelled: [relabelled, { dimension: whole, label_bound: one, residual_bound: one, weight: one }],
});
