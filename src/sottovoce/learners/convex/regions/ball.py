"""The ball."""

from typing import Any

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.learners.convex.regions.base import norm, on_sphere
from sottovoce.privacy.domains import shorten


@configuration("size")
class BallRegion:
    """||z|| <= radius, with the barrier -ln(radius^2 - ||z||^2)."""

    size: int
    radius: float = 1.0

    @property
    def inner(self) -> float:
        return self.radius

    @property
    def outer(self) -> float:
        return self.radius

    @property
    def nu(self) -> float:
        return 1.0

    def place(self, free: jax.Array) -> jax.Array:
        return free

    def project(self, free: jax.Array, shrink: Any = 1.0) -> jax.Array:
        return shorten(jnp, free, shrink * self.radius)

    def gauge(self, free: jax.Array) -> jax.Array:
        return norm(free) / self.radius

    def slope(self, free: jax.Array) -> jax.Array:
        return 2 * free / (self.radius**2 - free @ free)

    def hessian(self, free: jax.Array) -> jax.Array:
        room = self.radius**2 - free @ free
        return 2 * jnp.eye(self.size) / room + 4 * jnp.outer(free, free) / room**2

    def uniform(self, key: Key) -> jax.Array:
        direction, distance = jax.random.split(key)
        far = jax.random.uniform(distance) ** (1 / self.size)
        return self.radius * far * on_sphere(direction, self.size)
