/** The device with `features.js` in it: one file, for a page that knows that its tasks have features. */

import "./features.js";

export * from "./index.js";
