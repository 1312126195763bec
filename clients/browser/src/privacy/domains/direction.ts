/** The direction of a person's features and how far a prediction was off, relative to a clip that everybody knows. */

import { admitNumber, admitVector, clip, length, ROUNDING, times, unit, type Domain } from "./base.js";

/**
 * (f x / ||x||, share) if the residual is beyond the clip, (f x / ||x||, -share) if not; f = residual / clip, cut.
 *
 * f lies between -1 and 1, so the message is at most sqrt(1 + share^2) long, whatever the features, the residual and
 * the clip are. Features of length 0 have the direction 0.
 */
export function direction(dimension: number, share: number): Domain {
  return {
    kind: "direction",
    blocks: [dimension, 1],
    radius: Math.sqrt(1 + share ** 2),
    numbers: { dimension, share },
    embed: (features, residual, most) => {
      const x = unit(admitVector(features, dimension));
      const off = admitNumber(residual);
      const cut = Math.max(admitNumber(most), 1e-100); // whatever a server says
      return [...times(x, clip(off / cut, -1, 1)), Math.abs(off) > cut ? share : -share];
    },
    contains: (message) =>
      length(message.slice(0, -1)) <= 1 + ROUNDING && Math.abs(message[dimension]!) <= share * (1 + ROUNDING),
  };
}
