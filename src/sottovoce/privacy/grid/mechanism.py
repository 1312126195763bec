"""What discrete Gaussian and discrete Laplace noise promise, with which scales, and how the server reads them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.base import Random
from sottovoce.privacy.domains import Domain, size
from sottovoce.privacy.grid.delta import RESOLUTION, discrete_delta, gaussian_delta, gaussian_distance
from sottovoce.privacy.noise import Noise, unbounded_noise
from sottovoce.privacy.spent import Spent
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import BrokenPromise, WireError

IMPOSSIBLE = 1e-15
"""The chance that an honest report is refused because its noise is too large."""


@dataclass(frozen=True)
class OnGrid(ABC):
    """Noise added to each coordinate, in whole steps of scale / RESOLUTION, with one scale per block of the message."""

    domain: Domain
    budget: Budget
    scales: tuple[float, ...]

    coin_size = 0

    @abstractmethod
    def farthest(self, surprise: float) -> float:
        """No noise is farther out than so many scales, but for a probability of 2 exp(-surprise)."""

    def verify_scales(self) -> None:
        """Refuse whatever is not one positive number for each block."""
        numbers = isinstance(self.scales, tuple) and all(
            type(scale) in (int, float) and 0 < scale < math.inf for scale in self.scales
        )
        if not numbers or len(self.scales) != len(self.domain.blocks):
            raise BrokenPromise(f"one positive scale per block is needed, got {self.scales}")

    @property
    def report_size(self) -> int:
        return 8 * size(self.domain)

    @cached_property
    def scale_of_each(self) -> NDArray[np.float64]:
        """The scale of each coordinate of the message."""
        return np.repeat(self.scales, self.domain.blocks)

    @cached_property
    def reach(self) -> NDArray[np.int64]:
        """The largest step of the grid that is taken, for each coordinate: the message's largest and all honest noise.

        Noise farther out has a probability of at most IMPOSSIBLE for the whole report. A message's coordinate is no
        larger than the radius.
        """
        noise = self.farthest(math.log(2 * size(self.domain) / IMPOSSIBLE))
        steps = np.ceil((self.domain.radius / self.scale_of_each + noise) * RESOLUTION)
        return np.minimum(steps, 2.0**62).astype(np.int64)

    def check(self, report: bytes) -> None:
        """Refuse more noise than devices draw, so that no report says more than `reach`."""
        grid = np.frombuffer(report, ">i8")
        if np.any(grid > self.reach) or np.any(grid < -self.reach):
            raise WireError("this report has more noise than any device draws")

    def decode(self, reports: Sequence[bytes]) -> NDArray[np.float64]:
        grid = np.frombuffer(b"".join(reports), ">i8").reshape(len(reports), -1)
        return grid / RESOLUTION * self.scale_of_each


@dataclass(frozen=True)
class Gaussian(OnGrid):
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
        self.verify_scales()
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

    def noise(self) -> Noise:
        return unbounded_noise(self.domain, self.scales)

    def law(self) -> "GaussianLaw":
        return GaussianLaw(scales=self.scale_of_each)


@dataclass(frozen=True)
class Laplace(OnGrid):
    """Discrete Laplace noise on a grid, one scale per block of the message. Pure epsilon.

    *Proof.* P(k) ~ exp(-|k| / RESOLUTION) on the integers. Two rounded messages that are n steps apart in L1 have
    likelihoods within e^(n / RESOLUTION). n / RESOLUTION is the domain's scaled L1 distance plus two steps a coordinate
    for rounding, and the scales are chosen so that this is at most epsilon. QED.
    """

    def farthest(self, surprise: float) -> float:
        return surprise

    def verify(self) -> None:
        self.verify_scales()
        spent = self.domain.l1(self.scales) + 2 * size(self.domain) / RESOLUTION
        if spent > self.budget.epsilon * (1 + 1e-12):
            raise BrokenPromise(f"Laplace noise promises epsilon {self.budget.epsilon:g} but gives {spent:.6g}")

    def cost(self) -> Spent:
        return Spent(pure=((self.budget.epsilon, 1),))

    def noise(self) -> Noise:
        return unbounded_noise(self.domain, tuple(scale * math.sqrt(2) for scale in self.scales), exponential=True)

    def law(self) -> "LaplaceLaw":
        return LaplaceLaw(scales=self.scale_of_each)


@dataclass(frozen=True, kw_only=True)
class GaussianLaw:
    """Continuous noise with a scale for each coordinate: no statistic can see the grid of the exact mechanism."""

    scales: Any

    def draw(self, message: Any, random: Random) -> Any:
        return message + self.scales * random.normals(message.shape)


@dataclass(frozen=True, kw_only=True)
class LaplaceLaw:
    """As `GaussianLaw`, with Laplace noise."""

    scales: Any

    def draw(self, message: Any, random: Random) -> Any:
        return message - self.scales * random.laplaces(message.shape)
