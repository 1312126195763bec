"""The few special functions that calibration, accounting and audits need, without scipy.

scipy is the oracle in the tests. Accuracy: about 1e-12 relative, tails included.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray


def normal_cdf(x: float) -> float:
    """The standard normal distribution function.

    >>> round(normal_cdf(1.0), 6)
    0.841345
    """
    return 0.5 * math.erfc(-x / math.sqrt(2))


def log_normal_cdf(x: float) -> float:
    """log(normal_cdf(x)), finite far into the lower tail.

    >>> round(log_normal_cdf(-40.0), 3)
    -804.608
    """
    if x > -30:
        return math.log(normal_cdf(x))
    # Asymptotic series of Mills' ratio; the first term left out is below 1e-12 here.
    series = 1.0
    term = 1.0
    for n in range(1, 8):
        term *= -(2 * n - 1) / (x * x)
        series += term
    return -0.5 * x * x - math.log(-x) - 0.5 * math.log(2 * math.pi) + math.log(series)


def normal_quantile(p: float) -> float:
    """The inverse of `normal_cdf`.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    if p <= 0 or p >= 1:
        return -math.inf if p <= 0 else math.inf
    if p > 0.5:
        return -normal_quantile(1 - p)
    target = math.log(p)
    return bisect(lambda x: log_normal_cdf(x) - target, -40.0, 0.0)


def bisect(function: Callable[[float], float], low: float, high: float, steps: int = 200) -> float:
    """The root of an increasing function between `low` and `high`.

    >>> round(bisect(lambda x: x * x - 2, 0.0, 2.0), 9)
    1.414213562
    """
    for _ in range(steps):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return high


def beta_cdf(a: float, b: float, x: ArrayLike) -> NDArray[np.float64]:
    """The regularised incomplete beta function I_x(a, b), by Lentz's continued fraction.

    >>> float(beta_cdf(2.0, 3.0, 0.4).round(6))
    0.5248
    """
    x = np.asarray(x, dtype=float)
    mirrored = x > (a + 1) / (a + b + 2)  # there the fraction for 1 - x converges faster
    p = np.where(mirrored, b, a)
    q = np.where(mirrored, a, b)
    z = np.where(mirrored, 1 - x, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_front = p * np.log(z) + q * np.log1p(-z) - _log_beta(a, b)
    front = np.where(z > 0, np.exp(log_front), 0.0) / p
    value = front * _beta_fraction(p, q, z)
    return np.where(mirrored, 1 - value, value)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _beta_fraction(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    tiny = 1e-300
    c = np.ones_like(x)
    d = 1 - (a + b) * x / (a + 1)
    d = 1 / np.where(np.abs(d) < tiny, tiny, d)
    result = d.copy()
    for m in range(1, 3000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 + term * d
            d = 1 / np.where(np.abs(d) < tiny, tiny, d)
            c = 1 + term / c
            c = np.where(np.abs(c) < tiny, tiny, c)
            change = c * d
            result = result * change
        if np.all(np.abs(change - 1) < 1e-14):
            return result
    raise ArithmeticError("incomplete beta function: the continued fraction did not converge")


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


def log_binomial(trials: ArrayLike, hits: ArrayLike, chance: float) -> NDArray[np.float64]:
    """The logarithm of the binomial probability, by Loader's saddle point expansion (2000): no large numbers cancel.

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
    exact = np.array([math.lgamma(m + 1) - (m + 0.5) * math.log(m) + m - _HALF_LOG_2PI for m in range(1, 32)])
    square = n * n
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / n
    return np.where(n < 32, exact[np.minimum(n, 31).astype(int) - 1], series)


def _deviance(x: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """X ln(x / mean) + mean - x."""
    apart = (x - mean) / mean
    return mean * ((1 + apart) * np.log1p(apart) - apart)


_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
