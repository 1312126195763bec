"""What discrete Gaussian and discrete Laplace noise promise, and with which scales."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.domains import Domain, size
from sottovoce.privacy.grid import read
from sottovoce.privacy.grid.delta import RESOLUTION, discrete_delta, gaussian_delta, gaussian_distance
from sottovoce.privacy.grid.law import GaussianLaw, LaplaceLaw
from sottovoce.privacy.grid.read import scale_of_each, verify_scales
from sottovoce.privacy.noise import Noise, unbounded_noise
from sottovoce.privacy.spent import Spent, one_pure_report
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import BrokenPromise


@dataclass(frozen=True)
class Gaussian:
    """Discrete Gaussian noise on a grid, one scale per block of the message. (epsilon, delta).

    *Proof.* Each coordinate is rounded to a grid of step scale / RESOLUTION, which adds at most two steps a coordinate
    to the distance of two messages (float error included); that distance, in units of the noise, is Delta. Rounded
    continuous Gaussian noise would give exactly delta(epsilon, Delta) of Balle and Wang (2018, Theorem 8), by
    post-processing. The discrete Gaussian (Canonne, Kamath, Steinke 2020) is near that in two ways, and the calibration
    pays for the cheaper one. By total variation: within RESOLUTION^-2 / 12 per coordinate, which adds (1 + e^epsilon)
    times so much to delta. By ratio: up to 40 deviations the two differ by a factor of at most e^r with
    r = 200 RESOLUTION^-2 (cosh u <= e^(u^2/2) within one grid step), so n coordinates cost e^(nr) delta(epsilon - 2nr);
    what is farther out has a probability below 1e-80. Both slacks together are below 1e-4 of the noise for epsilon of
    0.1 and more, and are paid for whatever they are.

    `formula` is "analytic", or "classical" for the paper's sqrt(2 ln(1.25/delta))/epsilon, which is refused on a device
    where it misses the promise.
    """

    domain: Domain
    budget: Budget
    scales: tuple[float, ...]
    formula: str = "analytic"

    def farthest(self, surprise: float) -> float:
        """The discrete Gaussian is sub-Gaussian like the continuous one (Canonne, Kamath, Steinke 2020)."""
        return math.sqrt(2 * surprise)

    @property
    def true_delta(self) -> float:
        """The delta that the noise really gives at the promised epsilon."""
        distance = gaussian_distance(self.domain, self.scales)
        return discrete_delta(lambda epsilon: gaussian_delta(epsilon, distance), self.budget.epsilon, size(self.domain))

    def verify(self) -> None:
        verify_scales(self)
        epsilon, delta = self.budget
        if not 0 < delta < 1:
            raise BrokenPromise(f"Gaussian noise needs a delta between 0 and 1, got {delta!r}")
        if self.true_delta > delta * (1 + 1e-9):
            raise BrokenPromise(
                f"formula {self.formula!r} promises delta {delta:g} at epsilon {epsilon:g} "
                f"but gives {self.true_delta:.3g}; use formula 'analytic'"
            )

    def cost(self) -> Spent:
        """Counted by its true distance."""
        return Spent(squared=gaussian_distance(self.domain, self.scales) ** 2, coordinates=size(self.domain))

    @property
    def report_size(self) -> int:
        return 8 * size(self.domain)

    def check(self, report: bytes) -> None:
        read.check(self, report)

    def decode(self, reports: Sequence[bytes]) -> NDArray[np.float64]:
        return read.decode(self, reports)

    def noise(self) -> Noise:
        return unbounded_noise(self.domain, self.scales)

    def law(self) -> GaussianLaw:
        return GaussianLaw(scales=scale_of_each(self))


@dataclass(frozen=True)
class Laplace:
    """Discrete Laplace noise on a grid, one scale per block of the message. Pure epsilon.

    *Proof.* P(k) ~ exp(-|k| / RESOLUTION) on the integers. Two rounded messages that are n steps apart in L1 have
    likelihoods within e^(n / RESOLUTION). n / RESOLUTION is the domain's scaled L1 distance plus two steps a coordinate
    for rounding, and the scales are chosen so that this is at most epsilon. QED.
    """

    domain: Domain
    budget: Budget
    scales: tuple[float, ...]

    def farthest(self, surprise: float) -> float:
        return surprise

    def verify(self) -> None:
        verify_scales(self)
        spent = self.domain.l1(self.scales) + 2 * size(self.domain) / RESOLUTION
        if spent > self.budget.epsilon * (1 + 1e-12):
            raise BrokenPromise(f"Laplace noise promises epsilon {self.budget.epsilon:g} but gives {spent:.6g}")

    def cost(self) -> Spent:
        return one_pure_report(self.budget)

    @property
    def report_size(self) -> int:
        return 8 * size(self.domain)

    def check(self, report: bytes) -> None:
        read.check(self, report)

    def decode(self, reports: Sequence[bytes]) -> NDArray[np.float64]:
        return read.decode(self, reports)

    def noise(self) -> Noise:
        return unbounded_noise(self.domain, tuple(scale * math.sqrt(2) for scale in self.scales), exponential=True)

    def law(self) -> LaplaceLaw:
        return LaplaceLaw(scales=scale_of_each(self))
