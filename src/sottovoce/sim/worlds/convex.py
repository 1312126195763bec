"""Worlds whose actions are points: the reward falls with the distance from a target, or is linear (`Plane`).

The regret is against the best fixed point in hindsight. The target may move on a segment from `start` to `end`, where
for both losses the best fixed point lies too; so the comparators are points of that segment.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, configuration
from sottovoce.learners.convex.regions import on_sphere
from sottovoce.sim.worlds.base import Drawn
from sottovoce.sim.worlds.motion import moved

COMPARATORS = 65
"""Points of the segment, both ends included."""


class Target(NamedTuple):
    place: jax.Array
    comparators: jax.Array
    noise: jax.Array


@dataclass(frozen=True, kw_only=True)
class _Moving(ABC):
    """What both losses share. Distances are measured between points as they are played, in units of the diameter.

    - "fixed": the target never moves.
    - "drifting": it goes from start to end and back, once in `period` rounds.
    - "switching": it jumps between the two, after phases that grow by the factor 1.6.

    `depth` is the target's distance from the middle of the region, 1 being the edge. `noise` is the standard deviation
    of normal noise on every reward: unbounded, which the device clips.
    """

    region: Any
    motion: str = "fixed"
    depth: float = 0.5
    noise: float = 0.0
    period: float = 2000.0
    start: Drawn = None
    end: Drawn = None

    def sample(self, key: Key) -> Any:
        first, second = jax.random.split(key)
        start, end = self._at_depth(first), self._at_depth(second)
        return replace(self, start=start, end=end)

    @abstractmethod
    def _loss(self, target: jax.Array, points: jax.Array) -> jax.Array: ...

    def _at_depth(self, key: Key) -> jax.Array:
        direction = on_sphere(key, self.region.size)
        return direction * (self.depth / self.region.gauge(direction))

    def visit(self, round: jax.Array, key: Key) -> Target:
        start, end = self.region.place(self.start), self.region.place(self.end)
        if self.motion == "fixed":
            return Target(start, start[None, :], jnp.asarray(self.noise))
        segment = start + jnp.linspace(0.0, 1.0, COMPARATORS)[:, None] * (end - start)
        return Target(start + self._moved(round) * (end - start), segment, jnp.asarray(self.noise))

    def _moved(self, round: jax.Array) -> jax.Array:
        """How far the target is on its way, from 0 to 1."""
        if self.motion == "drifting":
            return moved("drifting", round, self.period)
        phase = jnp.floor(jnp.log1p(0.6 * round) / jnp.log(1.6))
        return jnp.where(phase % 2 == 0, 0.0, 1.0)

    def outcome(self, context: Target, action: jax.Array, key: Key) -> jax.Array:
        """One minus the loss, at the point or at each of several: one person, one loss function, one noise."""
        return 1 - self._loss(context.place, action) - context.noise * jax.random.normal(key)

    def regret(self, context: Target, action: jax.Array) -> jax.Array:
        """Against every comparator; where several points were played, their mean counts."""
        played = jnp.mean(self._loss(context.place, action))
        against = played - self._loss(context.place, context.comparators)
        return against[0] if self.motion == "fixed" else against


@configuration("motion")
class Quadratic(_Moving):
    """The squared distance in units of the diameter, in [0, 1]: strongly convex and smooth, both 2/diameter^2.

    `kink` is the share of the plain distance in the loss: with it the loss is strongly convex but not smooth.
    """

    kink: float = 0.0

    def _loss(self, target: jax.Array, points: jax.Array) -> jax.Array:
        apart = (points - target) / (2 * self.region.outer)
        square = jnp.sum(apart * apart, axis=-1)
        return (1 - self.kink) * square + self.kink * jnp.sqrt(square)


@configuration("motion")
class Absolute(_Moving):
    """`steepness` times the distance: convex, not smooth; by default in units of the diameter, so losses in [0, 1]."""

    steepness: float = 0.0

    def _loss(self, target: jax.Array, points: jax.Array) -> jax.Array:
        apart = points - target
        steepness = jnp.where(self.steepness > 0, self.steepness, 1 / (2 * self.region.outer))
        return steepness * jnp.sqrt(jnp.sum(apart * apart, axis=-1))


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

    def sample(self, key: Key) -> Any:
        mean = on_sphere(key, self.region.size) / (2 * self.region.outer)
        return replace(self, mean=mean, corner=self.region.project(-1e6 * self.region.outer**2 * mean))

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
