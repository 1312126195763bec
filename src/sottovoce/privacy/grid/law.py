"""Continuous Gaussian and Laplace noise for the simulator: no statistic can see the grid of the exact mechanisms."""

from dataclasses import dataclass
from typing import Any

from sottovoce.privacy.base import Random


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
