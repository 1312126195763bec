/**
 * The mechanisms that add noise, gaussian and laplace, and the accounting with a delta. The device loads it for a contract
 * that needs it; it registers itself there. A page may import it too. It grants nothing: limits decide about a delta.
 */

import { WITH_DELTA } from "./privacy/accounting.js";
import { deltaOf, epsilonOf } from "./privacy/gaussian.js";
import { gaussian, laplace } from "./privacy/grid.js";
import { MECHANISMS } from "./privacy/mechanisms.js";

Object.assign(MECHANISMS, { gaussian, laplace });
Object.assign(WITH_DELTA, { deltaOf, epsilonOf });
