"""Binomial probabilities for counts of many millions: no large numbers cancel. scipy is the oracle in the tests."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)

_SMALL = np.array([math.lgamma(m + 1) - (m + 0.5) * math.log(m) + m - _HALF_LOG_2PI for m in range(1, 32)])
"""Ln m! minus Stirling's formula for m from 1 to 31, below which its series is not exact enough."""


def log_binomial(trials: ArrayLike, hits: ArrayLike, chance: float) -> NDArray[np.float64]:
    """The logarithm of the binomial probability, by Loader's saddle point expansion (2000).

    >>> float(np.exp(log_binomial(4, 2, 0.5)).round(6))
    0.375
    """
    n, x = np.broadcast_arrays(np.asarray(trials, dtype=float), np.asarray(hits, dtype=float))
    y = n - x
    inner = (x > 0) & (y > 0)
    a, b, both = np.where(inner, x, 1.0), np.where(inner, y, 1.0), np.where(inner, n, 2.0)
    scale = 0.5 * np.log(both / (2 * math.pi * a * b))
    errors = _stirling_error(both) - _stirling_error(a) - _stirling_error(b)
    middle = scale + errors - _deviance(a, both * chance) - _deviance(b, both * (1 - chance))
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.where(x > 0, x * np.log(chance), 0.0) + np.where(y > 0, y * np.log1p(-chance), 0.0)
    return np.where(inner, middle, ends)


def half_tail(trials: ArrayLike, least: ArrayLike) -> NDArray[np.float64]:
    """How likely `trials` fair coins give at least `least` heads, which must be more than half of them.

    P(X >= k) = 2 k P(X = k) int_0^(1/2) (1 - 2u)^(k - 1) (1 + 2u)^(n - k) du, by Gauss' rule up to where the integrand
    is below e^-45; it falls from 1 faster than exp(-slope u - bend u^2).

    >>> float(half_tail(4, 3).round(6)), float(half_tail(4, 5))
    (0.3125, 0.0)
    """
    n, k = np.broadcast_arrays(np.asarray(trials, dtype=float), np.asarray(least, dtype=float))
    k, some = np.clip(k, 1, np.maximum(n, 1)), k <= n
    slope, bend = 2 * (2 * k - 1 - n), 2 * (k - 1)
    end = np.minimum(0.5, 90 / np.maximum(slope + np.sqrt(slope**2 + 180 * bend), 1.0))
    nodes, weights = _gauss(64)
    u = end[..., None] * nodes
    log_integrand = (k - 1)[..., None] * np.log1p(-2 * u) + (n - k)[..., None] * np.log1p(2 * u)
    integral = end * (np.exp(log_integrand) @ weights)
    return np.where(some, 2 * k * np.exp(log_binomial(np.maximum(n, 1), k, 0.5)) * integral, 0.0)


@lru_cache(maxsize=4)
def _gauss(nodes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gauss' rule on [0, 1]."""
    places, weights = np.polynomial.legendre.leggauss(nodes)
    return (places + 1) / 2, weights / 2


def _stirling_error(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ln n! minus Stirling's formula."""
    square = n * n
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / n
    return np.where(n < 32, _SMALL[np.minimum(n, 31).astype(int) - 1], series)


def _deviance(x: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """X ln(x / mean) + mean - x."""
    apart = (x - mean) / mean
    return mean * ((1 + apart) * np.log1p(apart) - apart)
