"""What learners and worlds know of a convex region."""

from typing import Any, Protocol

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key


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
