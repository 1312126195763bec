"""What the reports of a holdout say: sums over those of the baseline, and over those of the choice."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.engine.step import weight_of
from sottovoce.privacy.gates import measuring_of, mechanisms_of
from sottovoce.privacy.mechanisms import decode
from sottovoce.protocol.contract import Contract
from sottovoce.server.store.base import MEASURES, Journalled, UnitEstimate


class Held(NamedTuple):
    """Sums over reports that measure, in the order of `MEASURES`. They teach nothing."""

    reports: NDArray[np.float64]
    weight: NDArray[np.float64]
    """Of the reports: those through quieter gates weigh less."""
    total: NDArray[np.float64]
    """Of their estimates, weighed."""


NOTHING = Held(np.zeros(2), np.zeros(2), np.zeros(2))


class Meter:
    """Adds up the reports of one task that measure: with a model rewards alone, with tickets reports as any other."""

    def __init__(self, contract: Contract) -> None:
        self._mechanisms = measuring_of(contract) or mechanisms_of(contract)
        noises = [mechanism.noise() for mechanism in self._mechanisms]
        self._weights = [weight_of(noises[0], noise) for noise in noises]
        self._spread = noises[0].proxy

    def add(self, held: Held, report: Journalled) -> Held:
        """The sums with this report; raises for one that cannot be read."""
        mechanism, weight = self._mechanisms[report.gate], self._weights[report.gate]
        place = np.arange(2) == MEASURES[report.context]
        added = 1.0, weight, weight * float(decode(mechanism, report.payload))
        return Held(*(np.asarray(sums) + one * place for sums, one in zip(held, added, strict=True)))

    def means(self, held: Held, taught: Sequence[float]) -> list[UnitEstimate]:
        """Of the baseline and of the choice; `taught` are weight and total of reports that measure and teach."""
        more = np.array([[0.0, one] for one in taught])
        weights, totals = (np.stack([held.weight, held.total]) + more).tolist()
        return [mean_of(n, s, self._spread) for n, s in zip(weights, totals, strict=True)]


def mean_of(weight: float, total: float, spread: float) -> UnitEstimate:
    """The mean of so many reports and its standard error; `spread` bounds the variance of one."""
    if not weight:
        return UnitEstimate(reports=0.0, mean=None, error=None)
    return UnitEstimate(reports=weight, mean=total / weight, error=(spread / weight) ** 0.5)
