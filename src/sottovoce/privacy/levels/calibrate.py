"""How many levels, and with which weights."""

from functools import lru_cache

import numpy as np

from sottovoce.privacy.domains import Domain, Interval
from sottovoce.privacy.levels.mechanism import Levels
from sottovoce.privacy.weights import verify_weights, verify_whole, weights
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import BrokenPromise, ConfigurationError


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


def verify(mechanism: Levels) -> None:
    """Refuse integers that do not keep the budget."""
    if not isinstance(mechanism.domain, Interval):
        raise BrokenPromise(f"levels answer for one number in an interval, got {mechanism.domain}")
    verify_whole(mechanism.levels, mechanism.keep, mechanism.flip)
    verify_weights(mechanism.keep, mechanism.flip, mechanism.budget.epsilon)
    if not 2 <= mechanism.levels <= 2**16:
        raise BrokenPromise(f"levels must be between 2 and 65536, got {mechanism.levels}")
