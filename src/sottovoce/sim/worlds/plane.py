"""A world whose actions are points and whose rewards are linear: every person has a loss vector."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.learners.convex.regions import on_sphere
from sottovoce.sim.worlds.base import Drawn


class Slope(NamedTuple):
    mean: jax.Array
    corner: jax.Array


@configuration()
class Plane:
    """The reward of x is -<l_t, x>, in [-1, 1]: l_t is `mean` plus a random vector, both of length 1/(2 outer).

    On a simplex x is counted from the middle. The mean's direction is drawn for every seed. The regret is against the
    best fixed point, the `corner` of the region that lies farthest against the mean.
    """

    region: Any
    mean: Drawn = None
    corner: Drawn = None

    def sample(self, key: Key) -> "Plane":
        mean = on_sphere(key, self.region.size) / (2 * self.region.outer)
        return dataclasses.replace(self, mean=mean, corner=self.region.project(-1e6 * self.region.outer**2 * mean))

    def visit(self, round: jax.Array, key: Key) -> Slope:
        return Slope(self._lifted(self.mean), self.region.place(self.corner))

    def _lifted(self, free: jax.Array) -> jax.Array:
        """The vector in the coordinates of points: `place` is affine, and its linear part is an isometry."""
        return self.region.place(free) - self.region.place(jnp.zeros(self.region.size))

    def outcome(self, context: Slope, action: jax.Array, key: Key) -> jax.Array:
        own = self._lifted(on_sphere(key, self.region.size) / (2 * self.region.outer))
        return -action @ (context.mean + own)

    def regret(self, context: Slope, action: jax.Array) -> jax.Array:
        return jnp.mean((action - context.corner) @ context.mean)
