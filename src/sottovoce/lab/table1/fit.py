"""Exponents: a straight line through the logarithms, and how far resampled seeds move it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
SLACK = 0.05
"""Exponents this close are the same."""
TINY = 1e-12
WIDEST = 0.2
"""An interval wider than this says too little to be compared."""


class Exponent(NamedTuple):
    """An exponent and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def exponent(sizes: NDArray, values: NDArray, factors: NDArray, seed: int = 0) -> Exponent:
    """The p with values ~ sizes^p * factors, and its 95 % bootstrap interval over seeds.

    `values` has a row per size and a column per seed. Seeds share their worlds across sizes, so whole columns are
    resampled.

    >>> sizes = np.array([10.0, 100.0, 1000.0])
    >>> exponent(sizes, np.outer(np.sqrt(sizes), [1.0, 1.0]), np.ones(3))
    Exponent(value=0.5, low=0.5, high=0.5)
    """
    columns = values.shape[1]
    drawn = np.random.default_rng(seed).integers(columns, size=(RESAMPLES, columns))
    resampled = [_slope(sizes, values[:, chosen].mean(axis=1) / factors) for chosen in drawn]
    low, high = np.quantile(resampled, [0.025, 0.975])
    middle = _slope(sizes, values.mean(axis=1) / factors)
    return Exponent(*(round(float(number), 12) for number in (middle, low, high)))


def local_slopes(sizes: NDArray, values: NDArray, factors: NDArray) -> NDArray[np.float64]:
    """The exponents between neighbouring sizes; far apart, they say that one straight line is not the truth.

    >>> sizes = np.array([10.0, 100.0, 1000.0])
    >>> local_slopes(sizes, np.array([[1.0], [10.0], [10.0]]), np.ones(3)).tolist()
    [1.0, 0.0]
    """
    means = np.maximum(values.mean(axis=1) / factors, TINY)
    return np.diff(np.log(means)) / np.diff(np.log(sizes))


def growth(fitted: Exponent, theorem: float) -> str:
    """Does what was measured grow slower or faster than the theorem says, or as it says?

    >>> [growth(Exponent(0.5, low, low + 0.1), 0.5) for low in (0.2, 0.4, 0.6)]
    ['slower', 'as', 'faster']
    """
    if fitted.high - fitted.low > WIDEST:
        return "unclear"
    if fitted.high < theorem - SLACK:
        return "slower"
    return "faster" if fitted.low > theorem + SLACK else "as"


def _slope(sizes: NDArray, means: NDArray) -> float:
    """Least squares through the logarithms."""
    x, y = np.log(sizes), np.log(np.maximum(means, TINY))
    return float((x - x.mean()) @ (y - y.mean()) / ((x - x.mean()) @ (x - x.mean())))
