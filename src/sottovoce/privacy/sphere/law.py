"""The noise of the sphere codebook: what a learner may know of it, and what the simulator draws from."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.kind import Random
from sottovoce.privacy.noise import Noise, unbounded_noise
from sottovoce.privacy.sphere.calibrate import inner_products
from sottovoce.privacy.sphere.mechanism import Sphere

TABLE = 4096
"""Steps of the quantile table."""


def noise(mechanism: Sphere) -> Noise:
    """The larger of a coordinate's deviation along the message and across it."""
    inner, mass = _sent(mechanism)
    second = float(np.sum(inner**2 * mass) / np.sum(mass))
    variance = max(second - mechanism.mean**2, (1 - second) / (mechanism.dimension - 1))
    deviation = math.sqrt(variance) * mechanism.domain.radius / mechanism.mean
    return unbounded_noise(mechanism.domain, (deviation,) * len(mechanism.domain.blocks))


def _sent(mechanism: Sphere) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Inner products of the message with the candidate sent, and how likely each is, up to a factor."""
    inner, mass, in_cap = inner_products(mechanism.dimension, mechanism.candidates, mechanism.cap)
    return inner, mass * (in_cap * mechanism.inside + (1 - in_cap) * mechanism.outside)


@dataclass(frozen=True, kw_only=True)
class SphereLaw:
    """The inner product from its quantile table, the rest uniform on the orthogonal sphere."""

    quantiles: Any
    mean: float
    radius: float

    def draw(self, message: Any, random: Random) -> Any:
        xp = message.__array_namespace__()
        first, second = random.split()
        unit = message / self.radius
        slack = xp.sqrt(xp.maximum(0.0, 1 - unit @ unit))
        lifted = xp.concat([unit, xp.reshape(slack, (1,))])
        along = self._inner_product(xp, first.uniforms(()))
        across = second.normals(lifted.shape)
        across = across - (across @ lifted) * lifted
        across = across * (xp.sqrt(1 - along**2) / xp.sqrt(across @ across))
        return (along * lifted + across)[:-1] * (self.radius / self.mean)

    def _inner_product(self, xp: Any, share: Any) -> Any:
        place = share * TABLE
        low = xp.minimum(place.astype(int), TABLE - 1)
        return self.quantiles[low] + (place - low) * (self.quantiles[low + 1] - self.quantiles[low])


@lru_cache(maxsize=64)
def law(mechanism: Sphere) -> SphereLaw:
    """The quantiles are shifted a little so that their mean is the one the server divides by."""
    inner, mass = _sent(mechanism)
    below = np.cumsum(mass[::-1])  # from the farthest candidate to the nearest
    edges = np.cos(np.linspace(math.pi, 0, len(inner) + 1))
    quantiles = np.interp(np.linspace(0, 1, TABLE + 1), np.append(0, below / below[-1]), edges)
    table_mean = (np.sum(quantiles) - (quantiles[0] + quantiles[-1]) / 2) / TABLE
    quantiles = np.clip(quantiles + (mechanism.mean - table_mean), -1, 1)
    return SphereLaw(quantiles=quantiles, mean=mechanism.mean, radius=mechanism.domain.radius)
