/** The direction of a person's features and how far a prediction was off, relative to a clip that everybody knows. */

import { clip, number, type Shape } from "./base.js";
import { numbers, times, unit } from "./vectors.js";

/**
 * (f x / ||x||, share) if the residual is beyond the clip, (f x / ||x||, -share) if not; f = residual / clip, cut.
 *
 * f lies between -1 and 1, so the message is at most sqrt(1 + share^2) long, whatever the features, the residual and
 * the clip are. Features of length 0 have the direction 0.
 */
export function direction(dimension: number, share: number): Shape {
  return [
    dimension + 1,
    Math.sqrt(1 + share ** 2),
    (features, residual, most) => {
      const off = number(residual);
      const cut = Math.max(number(most), 1e-100); // whatever a server says
      return [
        ...times(unit(numbers(features, dimension)), clip(off / cut, -1, 1)),
        Math.abs(off) > cut ? share : -share,
      ];
    },
  ];
}
