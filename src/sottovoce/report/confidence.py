"""Confidence bounds for what was measured. No JAX, no scipy; scipy is the oracle in the tests."""

import math
from functools import lru_cache

from sottovoce.privacy.special import beta_cdf, bisect


def clopper_pearson(hits: int, of: int, error: float) -> tuple[float, float]:
    """A lower and an upper bound on a probability; each alone is wrong with probability at most `error`.

    >>> [round(bound, 4) for bound in clopper_pearson(8, 10, 0.025)]
    [0.4439, 0.9748]
    """
    low = beta_quantile(hits, of - hits + 1, error) if hits else 0.0
    high = 1 - beta_quantile(of - hits, hits + 1, error) if hits < of else 1.0
    return low, high


def beta_quantile(a: float, b: float, p: float) -> float:
    """The inverse of `beta_cdf` in x.

    >>> round(beta_quantile(2.0, 3.0, 0.5248), 6)
    0.4
    """
    return bisect(lambda x: float(beta_cdf(a, b, x)) - p, 0.0, 1.0, steps=100)


@lru_cache(maxsize=256)
def student_quantile(p: float, degrees: int) -> float:
    """The quantile of Student's t for p above one half.

    >>> round(student_quantile(0.975, 7), 4)
    2.3646
    """
    x = beta_quantile(degrees / 2, 0.5, 2 * (1 - p))
    return math.sqrt(degrees * (1 - x) / x)
