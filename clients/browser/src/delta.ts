/**
 * The mechanisms that add noise, gaussian and laplace, and the accounting with a delta. Import it after the device's
 * module and it registers itself there.
 */

import { WITH_DELTA } from "./privacy/accounting.js";
import { DOMAINS } from "./privacy/domains/index.js";
import { relabelled } from "./privacy/domains/relabelled.js";
import { deltaOf, epsilonOf } from "./privacy/gaussian.js";
import { gaussian, laplace } from "./privacy/grid.js";
import { MECHANISMS } from "./privacy/mechanisms.js";
import { maybe, real, whole } from "./protocol/strict.js";

const one = maybe(real, 1);

Object.assign(MECHANISMS, { gaussian, laplace });
Object.assign(WITH_DELTA, { deltaOf, epsilonOf });
DOMAINS["relabelled"] = [relabelled, { dimension: whole, label_bound: one, residual_bound: one, weight: one }];
