"""The distribution of <candidate sent, message>: its mean, and what the simulator draws from."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.base import Random
from sottovoce.privacy.special import beta_cdf

TABLE = 4096
"""Steps of the quantile table."""


@lru_cache(maxsize=4096)
def sphere_mean(dimension: int, candidates: int, cap: int, ratio: float) -> float:
    """E<candidate sent, message> for a codebook of uniform unit vectors in `dimension` coordinates."""
    inner, mass, in_cap = inner_products(dimension, candidates, cap)
    top = float(np.sum(inner * mass * in_cap)) / float(np.sum(mass * in_cap))
    sent_inside = ratio * cap / (ratio * cap + candidates - cap)
    # All inner products together have mean zero, so those outside have mean -cap * top / (candidates - cap).
    return top * (sent_inside - (1 - sent_inside) * cap / (candidates - cap))


@lru_cache(maxsize=128)
def inner_products(dimension: int, candidates: int, cap: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inner products t on a fine grid, their probability, and P(a candidate at t is in the cap).

    t = cos(angle) with density ~ sin(angle)^(dimension - 2). A candidate at t is in the cap when fewer than `cap` of
    the candidates - 1 others are nearer: a binomial tail, I_F(t)(candidates - cap, cap).
    """
    angle = (np.arange(4000) + 0.5) * (math.pi / 4000)
    log_density = (dimension - 2) * np.log(np.sin(angle))
    mass = np.exp(log_density - np.max(log_density))
    mass /= np.sum(mass)
    farther = 1 - (np.cumsum(mass) - mass / 2)  # P(another candidate is farther than this angle)
    return np.cos(angle), mass, beta_cdf(candidates - cap, cap, np.clip(farther, 0.0, 1.0))


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


def quantile_table(mass: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
    """Quantiles of the inner product, shifted a little so that their mean is the one the server divides by.

    `mass` is the probability of each inner product of `inner_products`, up to a factor.
    """
    below = np.cumsum(mass[::-1])  # from the farthest candidate to the nearest
    edges = np.cos(np.linspace(math.pi, 0, len(mass) + 1))
    quantiles = np.interp(np.linspace(0, 1, TABLE + 1), np.append(0, below / below[-1]), edges)
    table_mean = (np.sum(quantiles) - (quantiles[0] + quantiles[-1]) / 2) / TABLE
    return np.clip(quantiles + (mean - table_mean), -1, 1)
