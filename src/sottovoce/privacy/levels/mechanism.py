"""k-level randomised response: what it promises, with which integers, and how the server reads a level."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.base import Random, verify_weights, verify_whole, weights
from sottovoce.privacy.domains import Domain, Interval
from sottovoce.privacy.noise import Noise
from sottovoce.privacy.spent import Spent
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import BrokenPromise, ConfigurationError, WireError


@dataclass(frozen=True)
class Levels:
    """k-level randomised response, for one number in a declared range. Pure epsilon.

    The number is rounded at random to one of k equally spaced levels so that its mean is kept; then the true level is
    sent with weight `keep` and each other level with weight `flip`, integers.

    *Proof.* Whatever the rounding did, every output has probability keep/W or flip/W with W = keep + (k-1) flip, the
    same for all inputs. Two probabilities of one output differ by at most keep/flip <= e^epsilon. QED.
    """

    domain: Interval
    budget: Budget
    levels: int
    keep: int
    flip: int

    coin_size = 0

    @property
    def total(self) -> int:
        """The sum of all weights, W."""
        return self.keep + (self.levels - 1) * self.flip

    def verify(self) -> None:
        if not isinstance(self.domain, Interval):
            raise BrokenPromise(f"levels answer for one number in an interval, got {self.domain}")
        verify_whole(self.levels, self.keep, self.flip)
        verify_weights(self.keep, self.flip, self.budget.epsilon, self.total)
        if not 2 <= self.levels <= 2**16:
            raise BrokenPromise(f"levels must be between 2 and 65536, got {self.levels}")

    def cost(self) -> Spent:
        return Spent(pure=((self.budget.epsilon, 1),))

    @property
    def report_size(self) -> int:
        return 1 if self.levels <= 256 else 2

    @property
    def reach(self) -> float:
        """The estimate sent for the highest level, with the message in [-1, 1]: 1 / (P(keep) - P(flip))."""
        return self.total / (self.keep - self.flip)

    def check(self, report: bytes) -> None:
        """Refuse a level that there is not, so that no report says more than `reach`."""
        if (level := int.from_bytes(report, "big")) >= self.levels:
            raise WireError(f"this task has {self.levels} levels, got level {level}")

    def decode(self, reports: Sequence[bytes]) -> NDArray[np.float64]:
        levels = np.array([int.from_bytes(report, "big") for report in reports], dtype=float)[:, None]
        return self.reach * (2 * levels / (self.levels - 1) - 1)

    def noise(self) -> Noise:
        spread = math.sqrt(levels_variance(self.levels, self.keep / self.flip)) * self.domain.half
        bound = self.reach * self.domain.half
        return Noise(spread**2, bound, (spread,), proxy=bound**2, levels=self.levels)

    def law(self) -> "LevelsLaw":
        return LevelsLaw(levels=float(self.levels), keep=self.keep / self.total, reach=self.reach)


@lru_cache(maxsize=512)
def levels(domain: Domain, budget: Budget, count: int | None = None) -> Levels:
    """Randomised response on the number of levels with the smallest worst-case variance.

    >>> levels(Interval(0, 1), Budget(1.0)).levels
    2
    """
    if not isinstance(domain, Interval):
        raise ConfigurationError(f"levels answer for one number in an interval, got {domain}; use sphere for vectors")
    keep, flip = weights(budget.epsilon)
    if count is None:
        count = min(range(2, 66), key=lambda k: levels_variance(k, keep / flip))
    if count < 2:
        raise ConfigurationError(f"randomised response needs at least 2 levels, got {count}")
    return Levels(domain, budget, count, keep, flip)


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
