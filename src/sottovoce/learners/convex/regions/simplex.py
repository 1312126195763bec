"""The simplex of probability vectors."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from sottovoce.learners.base import Key, configuration
from sottovoce.learners.convex.regions.base import Region


@configuration("size")
class SimplexRegion(Region):
    """Probability vectors of size + 1 entries: x = 1/n + basis @ z with an orthonormal basis of the sum-zero vectors.

    Distances are those of the probability vectors. The barrier is -sum ln x_i.
    """

    size: int

    basis = property(lambda self: helmert(self.size))
    inner = property(lambda self: 1 / math.sqrt(self.size * (self.size + 1)))
    outer = property(lambda self: math.sqrt(self.size / (self.size + 1)))
    nu = property(lambda self: float(self.size + 1))

    def place(self, free: jax.Array) -> jax.Array:
        return 1 / (self.size + 1) + self.basis @ free

    def project(self, free: jax.Array, shrink: Any = 1.0) -> jax.Array:
        """The nearest probability vector with entries of at least (1 - shrink)/n, by sorting (Held et al. 1974)."""
        least = (1 - shrink) / (self.size + 1)
        entries = self.place(free) - least
        falling = jnp.sort(entries)[::-1]
        over = (jnp.cumsum(falling) - shrink) / jnp.arange(1, self.size + 2)
        count = jnp.sum(falling > over)
        cut = jnp.sum(jnp.where(jnp.arange(self.size + 1) == count - 1, over, 0.0))
        return self.basis.T @ (jnp.maximum(entries - cut, 0.0) + least)

    def gauge(self, free: jax.Array) -> jax.Array:
        return jnp.maximum(jnp.max(-(self.size + 1) * (self.basis @ free)), 0.0)

    def slope(self, free: jax.Array) -> jax.Array:
        return -self.basis.T @ (1 / self.place(free))

    def hessian(self, free: jax.Array) -> jax.Array:
        scaled = self.basis / self.place(free)[:, None]
        return scaled.T @ scaled

    def uniform(self, key: Key) -> jax.Array:
        waits = -jnp.log1p(-jax.random.uniform(key, (self.size + 1,)))
        return self.basis.T @ (waits / jnp.sum(waits))


def helmert(size: int) -> np.ndarray:
    """So many orthonormal columns of one entry more, each with the sum zero: Helmert's basis.

    >>> helmert(1).round(3).tolist()
    [[0.707], [-0.707]]
    """
    columns = np.tril(np.ones((size + 1, size + 1)), -1).T[:, 1:].copy()
    for k in range(1, size + 1):
        columns[k, k - 1] = -k
        columns[:, k - 1] /= math.sqrt(k * (k + 1))
    return columns
