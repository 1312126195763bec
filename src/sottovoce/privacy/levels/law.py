"""The distribution of randomised response: its variance, and what the simulator draws from."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.privacy.base import Random


def levels_variance(count: int, ratio: float, points: int = 129) -> float:
    """The largest variance over the inputs in [-1, 1] of the unbiased estimate, for keep/flip = ratio."""
    grid = np.linspace(-1, 1, count)
    flip = 1 / (ratio + count - 1)
    gain = (ratio - 1) * flip
    below = np.linspace(0, 1, points)[:, None]  # position between two neighbouring levels
    start = np.arange(count - 1)
    mean = grid[start] + below * (2 / (count - 1))
    square = (1 - below) * grid[start] ** 2 + below * grid[start + 1] ** 2
    second = (gain * square + flip * np.sum(grid**2)) / gain**2
    return float(np.max(second - mean**2))


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
