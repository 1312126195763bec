"""The distributions of the exact mechanisms, fast and seeded: for simulation only.

Every `draw` has the same law as `decode_message(mechanism, privatise(mechanism, message))`; the tests compare the two.
"""

import math
from functools import lru_cache
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from sottovoce.learners.base import Key, configuration
from sottovoce.privacy import mechanisms
from sottovoce.privacy.calibration import sphere_law
from sottovoce.privacy.decode import levels_reach
from sottovoce.privacy.domains import size
from sottovoce.sim.random import normals

TABLE = 4096
"""Entries of the quantile table of the sphere mechanism."""


class Channel(Protocol):
    """From a message to the server's estimate of it."""

    def draw(self, message: jax.Array, key: Key) -> jax.Array: ...


@configuration()
class Silence:
    """No noise at all: the non-private limit."""

    def draw(self, message: jax.Array, key: Key) -> jax.Array:
        return message


@configuration()
class SimulatedLevels:
    """k-level randomised response."""

    levels: float
    keep: float
    reach: float

    def draw(self, message: jax.Array, key: Key) -> jax.Array:
        up, answer = jax.random.uniform(key, (2,), dtype=message.dtype)
        last = self.levels - 1
        level = jnp.minimum(jnp.floor((message + 1) / 2 * last + up), last)
        other = jnp.minimum(jnp.floor((answer - self.keep) / (1 - self.keep) * last), last - 1)
        sent = jnp.where(answer < self.keep, level, other + (other >= level))
        return self.reach * (2 * sent / last - 1)


@configuration()
class SimulatedSphere:
    """The sphere codebook: the inner product from its quantile table, the rest uniform on the orthogonal sphere."""

    quantiles: Any
    mean: float
    radius: float

    def draw(self, message: jax.Array, key: Key) -> jax.Array:
        along_key, across_key = jax.random.split(key)
        unit = message / self.radius
        lifted = jnp.append(unit, jnp.sqrt(jnp.maximum(0.0, 1 - unit @ unit)))
        along = self._inner_product(jax.random.uniform(along_key, dtype=message.dtype))
        across = normals(across_key, lifted.shape)
        across = across - (across @ lifted) * lifted
        across = across * (jnp.sqrt(1 - along**2) / jnp.sqrt(across @ across))
        return (along * lifted + across)[:-1] * (self.radius / self.mean)

    def _inner_product(self, share: jax.Array) -> jax.Array:
        place = share * TABLE
        low = jnp.minimum(place.astype(int), TABLE - 1)
        return self.quantiles[low] + (place - low) * (self.quantiles[low + 1] - self.quantiles[low])


@configuration()
class SimulatedGaussian:
    """Gaussian noise; the grid of the exact mechanism is far finer than any statistic can see."""

    scales: Any

    def draw(self, message: jax.Array, key: Key) -> jax.Array:
        return message + self.scales * normals(key, message.shape)


@configuration()
class SimulatedLaplace:
    """Laplace noise."""

    scales: Any

    def draw(self, message: jax.Array, key: Key) -> jax.Array:
        return message + self.scales * jax.random.laplace(key, message.shape, dtype=message.dtype)


def channel_of(mechanism: mechanisms.Mechanism | None) -> Channel:
    """The simulated mechanism; None is silence.

    >>> channel_of(None).draw(jnp.ones(2), jax.random.key(0)).tolist()
    [1.0, 1.0]
    """
    match mechanism:
        case None:
            return Silence()
        case mechanisms.Levels():
            total = mechanism.keep + (mechanism.levels - 1) * mechanism.flip
            return SimulatedLevels(
                levels=float(mechanism.levels), keep=mechanism.keep / total, reach=levels_reach(mechanism)
            )
        case mechanisms.Sphere():
            quantiles = _sphere_quantiles(mechanism)
            return SimulatedSphere(quantiles=quantiles, mean=mechanism.mean, radius=mechanism.domain.radius)
        case mechanisms.Gaussian() | mechanisms.Laplace():
            scales = np.repeat(mechanism.scales, mechanism.domain.blocks)
            kind = SimulatedGaussian if isinstance(mechanism, mechanisms.Gaussian) else SimulatedLaplace
            return kind(scales=scales)


@lru_cache(maxsize=64)
def _sphere_quantiles(mechanism: mechanisms.Sphere) -> np.ndarray:
    """Quantiles of <candidate sent, message>, shifted by a hair so that their mean is the one the server divides by."""
    inner, mass, in_cap = sphere_law(size(mechanism.domain) + 1, mechanism.candidates, mechanism.cap)
    weight = in_cap * mechanism.inside + (1 - in_cap) * mechanism.outside
    law = np.cumsum((mass * weight)[::-1])  # from the farthest candidate to the nearest
    edges = np.cos(np.linspace(math.pi, 0, len(inner) + 1))
    quantiles = np.interp(np.linspace(0, 1, TABLE + 1), np.append(0, law / law[-1]), edges)
    table_mean = (np.sum(quantiles) - (quantiles[0] + quantiles[-1]) / 2) / TABLE
    return np.clip(quantiles + (mechanism.mean - table_mean), -1, 1)
