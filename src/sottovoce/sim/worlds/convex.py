"""Worlds whose actions are points: the reward falls with the distance from a target, or is linear (`Plane`).

The regret is against the best fixed point in hindsight. The target may move on a segment from `start` to `end`, where
for each of these losses a best fixed point lies too; so the comparators are points of that segment.
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

COMPARATORS = {"drifting": 65, "switching": 65, "alternating": 4}
"""Points of the segment, both ends included. The mean place of an alternating target is one third of the way."""


class Target(NamedTuple):
    place: jax.Array
    comparators: jax.Array
    noise: jax.Array


@dataclass(frozen=True, kw_only=True)
class _Moving(ABC):
    """What these losses share. Distances are measured between points as they are played, in units of the diameter.

    - "fixed": the target never moves.
    - "drifting": it goes from start to end and back, once in `period` rounds.
    - "alternating": it is at the start for two thirds of every `period`, at the end for the rest.
    - "switching": it jumps between the two, after phases that grow by the factor 1.6.

    `depth` is the target's distance from the middle of the region, 1 being the edge. `top` is the reward at the target.
    `noise` is the standard deviation of normal noise on every reward: unbounded, which the device clips.
    """

    region: Any
    motion: str = "fixed"
    depth: float = 0.5
    noise: float = 0.0
    top: float = 1.0
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
        segment = start + jnp.linspace(0.0, 1.0, COMPARATORS[self.motion])[:, None] * (end - start)
        return Target(start + self._moved(round) * (end - start), segment, jnp.asarray(self.noise))

    def _moved(self, round: jax.Array) -> jax.Array:
        """How far the target is on its way, from 0 to 1."""
        if self.motion != "switching":
            return moved(self.motion, round, self.period)
        phase = jnp.floor(jnp.log1p(0.6 * round) / jnp.log(1.6))
        return jnp.where(phase % 2 == 0, 0.0, 1.0)

    def outcome(self, context: Target, action: jax.Array, key: Key) -> jax.Array:
        """`top` minus the loss, at the point or at each of several: one person, one loss function, one noise."""
        return self.top - self._loss(context.place, action) - context.noise * jax.random.normal(key)

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
        square = _squared(apart)
        return (1 - self.kink) * square + self.kink * jnp.sqrt(square)


@configuration("motion")
class Absolute(_Moving):
    """`steepness` times the distance: convex, not smooth; by default in units of the diameter, so losses in [0, 1]."""

    steepness: float = 0.0

    def _loss(self, target: jax.Array, points: jax.Array) -> jax.Array:
        apart = points - target
        steepness = jnp.where(self.steepness > 0, self.steepness, 1 / (2 * self.region.outer))
        return steepness * jnp.sqrt(_squared(apart))


@dataclass(frozen=True, kw_only=True)
class _Across(_Moving):
    """A loss that changes most in one direction, `across`, drawn for every seed."""

    across: Drawn = None

    def sample(self, key: Key) -> Any:
        across = lifted(self.region, on_sphere(jax.random.fold_in(key, 2), self.region.size))
        return replace(super().sample(key), across=across)


@configuration("motion")
class Valley(_Across):
    """The squared distance in units of the diameter, of which only the share `flat` counts along the valley.

    Across the valley it counts in full. A step that is right for one direction is wrong for the others by 1/flat. With
    `flat` = 0 the loss is smooth and not strongly convex: along the valley it does not change at all.
    """

    flat: float = 0.05

    def _loss(self, target: jax.Array, points: jax.Array) -> jax.Array:
        apart = (points - target) / (2 * self.region.outer)
        return self.flat * _squared(apart) + (1 - self.flat) * (apart @ self.across) ** 2


@configuration("motion")
class Cliff(_Across):
    """The loss falls slowly towards the target's height, and beyond it rises 1/shallow times as fast.

    Height is measured across, in units of the diameter, so no slope is above 1/diameter. A learner that explores evenly
    on both sides of the edge pays for the steep one.
    """

    shallow: float = 0.1

    def _loss(self, target: jax.Array, points: jax.Array) -> jax.Array:
        height = (points - target) @ self.across / (2 * self.region.outer)
        return jnp.maximum(height, -self.shallow * height)


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
        return Slope(lifted(self.region, self.mean), self.region.place(self.corner))

    def outcome(self, context: Slope, action: jax.Array, key: Key) -> jax.Array:
        own = lifted(self.region, on_sphere(key, self.region.size) / (2 * self.region.outer))
        return -action @ (context.mean + own)

    def regret(self, context: Slope, action: jax.Array) -> jax.Array:
        return jnp.mean((action - context.corner) @ context.mean)


def lifted(region: Any, free: jax.Array) -> jax.Array:
    """The vector in the coordinates of points: `place` is affine, and its linear part is an isometry."""
    return region.place(free) - region.place(jnp.zeros(region.size))


def _squared(vectors: jax.Array) -> jax.Array:
    """The square of each vector's length, coordinate by coordinate: for sums of short rows XLA calls a library, which
    took two thirds of a round of a drifting target.

    >>> _squared(jnp.array([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [25.0, 1.0]
    """
    return sum((vectors[..., i] ** 2 for i in range(vectors.shape[-1])), jnp.zeros(()))
