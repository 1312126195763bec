"""The ball and the box."""

import math
from typing import Any

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.learners.convex.regions.base import Region, norm, on_sphere
from sottovoce.privacy.domains import shorten


@configuration("size")
class BallRegion(Region):
    """||z|| <= radius, with the barrier -ln(radius^2 - ||z||^2)."""

    size: int
    radius: float = 1.0

    inner = outer = property(lambda self: self.radius)
    nu = property(lambda self: 1.0)

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


@configuration("size")
class BoxRegion(Region):
    """|z_i| <= radius, with the barrier -sum ln(radius^2 - z_i^2)."""

    size: int
    radius: float = 1.0

    inner = property(lambda self: self.radius)
    outer = property(lambda self: self.radius * math.sqrt(self.size))
    nu = property(lambda self: 2.0 * self.size)

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
