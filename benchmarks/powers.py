"""How a cost grows: the exponent of a power law, by least squares on logarithms, with its interval."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sottovoce.report.confidence import student_quantile


class Power(NamedTuple):
    """cost = factor * size^exponent; the exponent has a 95 % interval, of Student's t."""

    exponent: float
    half: float
    factor: float

    def __str__(self) -> str:
        return f"{self.exponent:.2f} ± {self.half:.2f}"

    def at(self, size: float) -> float:
        return self.factor * size**self.exponent


def power_of(sizes: Sequence[float], costs: Sequence[float]) -> Power:
    """The power law through these points.

    >>> law = power_of([1, 10, 100, 1000], [2, 20, 200, 2000])
    >>> round(law.exponent, 9), round(law.factor, 9), round(law.half, 9)
    (1.0, 2.0, 0.0)
    >>> str(power_of([1, 10, 100, 1000], [2, 26, 190, 2000]))
    '0.99 ± 0.14'
    """
    x, y = np.log(np.asarray(sizes, float)), np.log(np.asarray(costs, float))
    around = x - x.mean()
    exponent = float(around @ y / (around @ around))
    rest = y - y.mean() - exponent * around
    freedom = len(x) - 2
    if freedom < 1:
        raise ValueError(f"an interval needs at least three sizes, got {len(x)}")
    half = student_quantile(0.975, freedom) * float(np.sqrt(rest @ rest / freedom / (around @ around)))
    return Power(exponent, half, float(np.exp(y.mean() - exponent * x.mean())))
