"""Newton's method from one number a person: a normal distribution of points that moves and narrows; convex losses.

In the style of Lattimore and Gyorgy, "A second-order method for stochastic bandit convex optimisation", COLT 2023, and
Fokkema, van der Hoeven, Lattimore and Mayo, "Online Newton method for bandit convex optimisation", COLT 2024. Play
X ~ N(m, S) and hear a loss Y. With z = S^(-1/2) (X - m), Stein's identity gives the gradient and the second derivative
of the loss smoothed by that distribution, Y S^(-1/2) z and Y S^(-1/2) (z z' - 1) S^(-1/2), so that in these units

    m <- m - eta (Y - b) S^(1/2) z        S^-1 <- S^(-1/2) (1 + lambda eta (Y - b) (z z' - 1)) S^(-1/2)

    m -> state.mean    S^(1/2) -> state.root    b -> state.level    z -> memo.draw    eta -> rate    lambda -> focus

Where the loss curves, S narrows by itself, in each direction as it should: no strength or smoothness is declared.

- Outside the region the loss is continued: the point is pulled back to X/p, p its gauge, and Y becomes p Y plus `wall`
  times (p - 1).
- eta = pace sqrt(ln T/T)/C with C^2 = B^2/4 + the variance of the noise: an online Newton step has a regret of order
  d (C^2 eta T + ln T/eta), the second term for the exploration that its narrowing S costs.
- At first X is about `width` inner radii from the middle. S is kept between that size and a millionth of it, and no
  step changes it by more than half.

Departures from the papers: the surrogate is the smoothed loss itself, and `focus` only slows the change of S down; b,
the mean of the losses so far, is subtracted, which changes no mean and takes the size of the loss out of the noise;
there are no restarts, so a minimum that moves far is found again only slowly.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration, loss_of
from sottovoce.learners.convex.regions import region_of
from sottovoce.privacy.noise import Noise

NARROWEST = 1e-3


class State(NamedTuple):
    mean: jax.Array
    root: jax.Array
    level: jax.Array
    told: jax.Array


class Memo(NamedTuple):
    draw: jax.Array
    beyond: jax.Array
    """p, 1 inside the region"""


@configuration()
class Newton:
    """Moves and narrows a normal distribution of points."""

    region: Any
    rate: float
    focus: float
    width: float
    wall: float
    middle: float

    def init(self) -> State:
        size = self.region.size
        return State(jnp.zeros(size), self.width * jnp.eye(size), jnp.asarray(1.0 * self.middle), jnp.zeros(()))

    def ask(self, state: State, key: Key) -> Offer:
        draw = jax.random.normal(key, (self.region.size,))
        point = state.mean + state.root @ draw
        beyond = jnp.maximum(self.region.gauge(point), 1.0)
        return Offer(self.region.place(point / beyond), Memo(draw, beyond))

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        loss = memo.beyond * loss_of(estimate, self.middle) + self.wall * (memo.beyond - 1)
        surprise, told = loss - state.level, state.told + 1
        mean = self.region.project(state.mean - self.rate * surprise * (state.root @ memo.draw))
        return State(mean, self._narrowed(state.root, memo.draw, surprise), state.level + surprise / (told + 1), told)

    def _narrowed(self, root: jax.Array, draw: jax.Array, surprise: jax.Array) -> jax.Array:
        """A root of the new S: root (1 - s + s z z')^(-1/2), which has two eigenvalues, along z and across."""
        square = draw @ draw
        share = jnp.clip(self.focus * self.rate * surprise, -0.5 / (1 + square), 0.5)
        across, along = 1 / jnp.sqrt(1 - share), 1 / jnp.sqrt(1 - share + share * square)
        new = across * root + (along - across) / square * jnp.outer(root @ draw, draw)
        lengths = jnp.sqrt(jnp.sum(new**2, axis=1))
        return new * (jnp.clip(lengths, NARROWEST * self.width, self.width) / lengths)[:, None]


def build(task: Task, noise: Noise) -> Newton:
    region, tuning = region_of(task.region, task.dimension), task.tuning
    low, high = float(task.domain["low"]), float(task.domain["high"])
    half, middle = (high - low) / 2, (low + high) / 2
    scale = math.sqrt(half**2 / 4 + noise.variance)
    rate = float(tuning["pace"]) * math.sqrt(math.log(task.rounds + 1) / task.rounds) / scale
    return Newton(
        region=region,
        rate=rate,
        focus=float(tuning["focus"]),
        width=float(tuning["width"]) * float(region.inner) / math.sqrt(region.size),
        wall=float(tuning["wall"]) * 2 * half,
        middle=middle,
    )
