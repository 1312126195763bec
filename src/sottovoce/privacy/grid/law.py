"""Gaussian and Laplace noise: what a learner may know of it, and what the simulator draws from.

The grid of the exact mechanism is far finer than any statistic can see, so both laws are continuous.
"""

import math
from dataclasses import dataclass
from typing import Any

from sottovoce.privacy.grid.mechanism import Gaussian, Laplace, scale_of_each
from sottovoce.privacy.kind import Random
from sottovoce.privacy.noise import Noise, unbounded_noise


def gaussian_noise(mechanism: Gaussian) -> Noise:
    return unbounded_noise(mechanism.domain, mechanism.scales)


def laplace_noise(mechanism: Laplace) -> Noise:
    deviations = tuple(scale * math.sqrt(2) for scale in mechanism.scales)
    return unbounded_noise(mechanism.domain, deviations, exponential=True)


@dataclass(frozen=True, kw_only=True)
class GaussianLaw:
    """Gaussian noise with a scale for each coordinate."""

    scales: Any

    def draw(self, message: Any, random: Random) -> Any:
        return message + self.scales * random.normals(message.shape)


@dataclass(frozen=True, kw_only=True)
class LaplaceLaw:
    """Laplace noise with a scale for each coordinate."""

    scales: Any

    def draw(self, message: Any, random: Random) -> Any:
        return message - self.scales * random.laplaces(message.shape)


def gaussian_law(mechanism: Gaussian) -> GaussianLaw:
    return GaussianLaw(scales=scale_of_each(mechanism))


def laplace_law(mechanism: Laplace) -> LaplaceLaw:
    return LaplaceLaw(scales=scale_of_each(mechanism))
