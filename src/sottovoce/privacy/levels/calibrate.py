"""How many levels, and with which weights."""

from functools import lru_cache

from sottovoce.privacy.domains import Domain, Interval
from sottovoce.privacy.levels.law import levels_variance
from sottovoce.privacy.levels.mechanism import Levels
from sottovoce.privacy.weights import weights
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import ConfigurationError


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
