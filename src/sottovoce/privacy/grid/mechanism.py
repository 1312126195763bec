"""What discrete Gaussian and discrete Laplace noise promise, and with which scales."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.domains import Domain
from sottovoce.protocol.budget import Budget

RESOLUTION = 2**24
"""Steps of the grid in one unit of noise scale."""


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
        """No noise is farther out than so many scales, but for a probability of 2 exp(-surprise).

        The discrete Gaussian is sub-Gaussian like the continuous one (Canonne, Kamath, Steinke 2020).
        """
        return math.sqrt(2 * surprise)


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
        """No noise is farther out than so many scales, but for a probability of 2 exp(-surprise)."""
        return surprise


def scale_of_each(mechanism: Gaussian | Laplace) -> NDArray[np.float64]:
    """The scale of each coordinate of the message."""
    return np.repeat(mechanism.scales, mechanism.domain.blocks)
