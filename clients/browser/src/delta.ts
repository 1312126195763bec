/**
 * The mechanisms that add noise, gaussian and laplace, and the accounting with a delta. Import it after the device's
 * module and it registers itself there.
 */

import { WITH_DELTA } from "./privacy/accounting.js";
import { deltaOf, epsilonOf } from "./privacy/gaussian.js";
import { gaussian, laplace } from "./privacy/grid.js";
import { MECHANISMS } from "./privacy/mechanisms.js";

Object.assign(MECHANISMS, { gaussian, laplace });
Object.assign(WITH_DELTA, { deltaOf, epsilonOf });
