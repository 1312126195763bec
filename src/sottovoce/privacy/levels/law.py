"""The noise of randomised response: what a learner may know of it, and what the simulator draws from."""

import math
from dataclasses import dataclass
from typing import Any

from sottovoce.privacy.kind import Random
from sottovoce.privacy.levels.calibrate import levels_variance
from sottovoce.privacy.levels.mechanism import Levels
from sottovoce.privacy.levels.read import levels_reach
from sottovoce.privacy.noise import Noise


def noise(mechanism: Levels) -> Noise:
    unit = mechanism.domain.half
    spread = math.sqrt(levels_variance(mechanism.levels, mechanism.keep / mechanism.flip)) * unit
    bound = levels_reach(mechanism) * unit
    return Noise(spread**2, bound, (spread,), proxy=bound**2, levels=mechanism.levels)


@dataclass(frozen=True, kw_only=True)
class LevelsLaw:
    """Round at random, then keep or flip, in floating point."""

    levels: float
    keep: float
    reach: float

    def draw(self, message: Any, random: Random) -> Any:
        xp = message.__array_namespace__()
        rounding, answer = random.uniforms((2,))
        last = self.levels - 1
        level = xp.maximum(xp.ceil((message + 1) / 2 * last - rounding), 0.0)
        other = last - 1 - xp.minimum(xp.floor((answer - self.keep) / (1 - self.keep) * last), last - 1)
        sent = xp.where(answer < self.keep, level, other + (other >= level))
        return self.reach * (2 * sent / last - 1)


def law(mechanism: Levels) -> LevelsLaw:
    return LevelsLaw(
        levels=float(mechanism.levels), keep=mechanism.keep / mechanism.total, reach=levels_reach(mechanism)
    )
