"""The box."""

import math
from typing import Any

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration


@configuration("size")
class BoxRegion:
    """|z_i| <= radius, with the barrier -sum ln(radius^2 - z_i^2)."""

    size: int
    radius: float = 1.0

    @property
    def inner(self) -> float:
        return self.radius

    @property
    def outer(self) -> float:
        return self.radius * math.sqrt(self.size)

    @property
    def nu(self) -> float:
        return 2.0 * self.size

    def place(self, free: jax.Array) -> jax.Array:
        return free

    def project(self, free: jax.Array, shrink: Any = 1.0) -> jax.Array:
        return jnp.clip(free, -shrink * self.radius, shrink * self.radius)

    def gauge(self, free: jax.Array) -> jax.Array:
        return jnp.max(jnp.abs(free)) / self.radius

    def slope(self, free: jax.Array) -> jax.Array:
        return 2 * free / (self.radius**2 - free**2)

    def hessian(self, free: jax.Array) -> jax.Array:
        room = self.radius**2 - free**2
        return jnp.diag(2 / room + 4 * free**2 / room**2)

    def uniform(self, key: Key) -> jax.Array:
        return jax.random.uniform(key, (self.size,), minval=-1.0, maxval=1.0) * self.radius
