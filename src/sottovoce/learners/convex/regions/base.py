"""What learners and worlds know of a convex region, and the two simplest: the ball and the box."""

import math
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.privacy.domains import shorten


class Region(Protocol):
    """A convex set, in the free coordinates of its points."""

    size: int
    """How many free coordinates there are."""
    inner: Any
    """The radius of a ball inside the region."""
    outer: Any
    """The radius of a ball that holds it."""
    nu: Any
    """The parameter of its barrier."""

    def place(self, free: jax.Array) -> jax.Array:
        """The point that is played."""
        return free

    def project(self, free: jax.Array, shrink: Any = 1.0) -> jax.Array: ...

    def gauge(self, free: jax.Array) -> jax.Array:
        """The least s >= 0 with z in s times the region: at most 1 inside."""
        ...

    def slope(self, free: jax.Array) -> jax.Array:
        """The barrier's gradient."""
        ...

    def hessian(self, free: jax.Array) -> jax.Array:
        """The barrier's second derivative."""
        ...

    def uniform(self, key: Key) -> jax.Array:
        """A uniformly random point, in free coordinates."""
        ...


def norm(vector: jax.Array) -> jax.Array:
    return jnp.sqrt(vector @ vector)


def on_sphere(key: Key, size: int) -> jax.Array:
    """A uniformly random direction."""
    direction = jax.random.normal(key, (size,))
    return direction / norm(direction)


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
