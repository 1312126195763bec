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


def half_width(count: float, proxy: float, error: float, tightest: float = 100.0) -> float:
    """How far the mean of `count` estimates is from the truth at most: at every count at once, but for `error`.

    Robbins, "Statistical methods related to the law of the iterated logarithm", 1970; Howard, Ramdas, McAuliffe and
    Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 2021.

    *Proof.* Estimates with mean m are sub-Gaussian with a variance `proxy`. So, with S their sum, n their count and
    V = n proxy, exp(l (S - n m) - l^2 V / 2) is a supermartingale for every l, and so is its mean over a normal l of
    variance 1/r: sqrt(r / (V + r)) exp((S - n m)^2 / (2 (V + r))). By Ville's inequality it ever reaches 1/error with
    probability at most `error`. Where a quieter report x counts for w of one, its proxy is proxy/w; S and n grow by w x
    and w, and the proof holds as it is. Who is asked may depend on everything heard before.

    Valid at all counts whatever `tightest` is, and about as tight as it can be at that many reports. At 100 and error
    0.05 it is 3 to 4.2 standard errors from 100 to a million reports; a larger number would make it much wider before.

    >>> [round(half_width(count, 0.25, 0.05) / math.sqrt(0.25 / count), 2) for count in (10.0, 1e2, 1e4, 1e6)]
    [3.76, 3.04, 3.58, 4.17]
    """
    depth = -2 * math.log(error)
    spread, r = count * proxy, tightest * proxy / (depth + math.log(depth) + 1)
    return math.sqrt((spread + r) * (depth + math.log1p(spread / r))) / count


def difference_half_width(first: float, second: float, proxy: float, error: float, tightest: float = 1000.0) -> float:
    """How far the difference of two means is from the truth at most: at all counts at once, but for `error`.

    `first` and `second` are the counts of the two means. Each report belongs to one of them; which, may depend on
    everything heard before.

    *Proof.* As for `half_width`, with a normal bet of its own on each mean, both of variance 1/r. The product of two
    such supermartingales that never move in the same step is one. So, with S_i - n_i m_i = d_i, the sum over both i of
    d_i^2 / (V_i + r) - log(1 + V_i / r) stays below 2 log(1/error), but for `error`. Within that ellipse d_2/n_2 -
    d_1/n_1 is at most the square root of the sum of (V_i + r) / n_i^2 (Cauchy and Schwarz) times that of the rest.

    The truth is the difference of what the two sets of people could expect on average. At `tightest` reports of each
    it is about as tight as it can be.

    >>> round(difference_half_width(1000.0, 1000.0, 1.0, 0.05) / math.sqrt(2 / 1000), 2)  # in standard errors
    3.43
    """
    depth = -2 * math.log(error)
    r = tightest * proxy / (depth + math.log(depth) + 1)
    spreads = first * proxy, second * proxy
    room = depth + sum(math.log1p(spread / r) for spread in spreads)
    return math.sqrt(room * sum((spread + r) / n**2 for spread, n in zip(spreads, (first, second), strict=True)))
