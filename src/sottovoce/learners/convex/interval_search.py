"""Stochastic convex optimisation on an interval: cut off a quarter at a time.

Agarwal, Foster, Hsu, Kakade and Rakhlin, "Stochastic convex optimization with bandit feedback", SIAM J. Optim. 2013,
Algorithm 1 (one dimension); the black box of the paper's corollary on stochastic bandit convex optimisation.

    [l, r] -> state.low, state.high    gamma_i = 2^-i width -> state.level    the three quarter points -> `_points`

In every epoch the three quarter points are sampled until each has n_i = c s^2 ln T/gamma_i^2 answers, for
gamma_i = 1/2, 1/4, ... of the range of losses. As soon as two of them differ by more than the intervals allow, the
quarter outside the worse one cannot hold the minimum and is cut off.

s^2 is the known sub-Gaussian proxy of an estimate. c = 8 (preset `paper`) makes the intervals +- gamma/2 hold except
with probability 2/T by Hoeffding's inequality; the published 2 goes with intervals +- gamma and is what `practical`
uses: fewer answers for each cut, without that guarantee.

Departures: late answers of an earlier epoch are dropped, since they were asked at points that no longer matter.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, check_sub_gaussian, configuration, loss_of, pick
from sottovoce.learners.convex.regions import region_of
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import ConfigurationError


class State(NamedTuple):
    low: jax.Array
    high: jax.Array
    epoch: jax.Array
    level: jax.Array
    """gamma"""
    counts: jax.Array
    sums: jax.Array


class Memo(NamedTuple):
    place: jax.Array
    """Which of the three points."""
    epoch: jax.Array


@dataclass(frozen=True, kw_only=True)
class Search:
    """What both searches of Agarwal et al. share."""

    region: Any
    answers: float
    """c s^2 ln T: how many each point needs, times gamma^2."""
    range: float
    """The width of the range of losses."""


def numbers_of(task: Task, noise: Noise) -> dict[str, Any]:
    """The numbers of a `Search`."""
    check_sub_gaussian(task.learner, noise)
    region, logarithm = region_of(task.region, task.dimension), math.log(max(task.rounds, 2))
    answers = float(task.tuning["care"]) * noise.proxy * logarithm
    return {"region": region, "answers": answers, "range": float(task.domain["high"]) - float(task.domain["low"])}


@configuration()
class IntervalSearch(Search):
    """Samples three points of an interval and cuts off a quarter that cannot hold the minimum."""

    def init(self) -> State:
        reach = jnp.asarray(1.0 * self.region.outer)
        return State(-reach, reach, jnp.zeros(()), jnp.asarray(0.5 * self.range), jnp.zeros(3), jnp.zeros(3))

    def ask(self, state: State, key: Key) -> Offer:
        """The point with the fewest answers; a coin decides between equals, so that people at once are spread."""
        place = jnp.argmin(state.counts + 0.5 * jax.random.uniform(key, (3,)))
        return Offer(self.region.place(pick(self._points(state), place)[None]), Memo(place, state.epoch))

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        told = (jnp.arange(3) == memo.place) & (memo.epoch == state.epoch)
        counts = state.counts + told
        sums = state.sums + jnp.where(told, loss_of(estimate), 0.0)
        enough = jnp.min(counts) >= self.answers / state.level**2
        return self._judge(state._replace(counts=counts, sums=sums), enough)

    def _points(self, state: State) -> jax.Array:
        return state.low + (state.high - state.low) * jnp.array([0.25, 0.5, 0.75])

    def _judge(self, state: State, enough: jax.Array) -> State:
        """Once all three have enough answers: cut a quarter off, or look more closely."""
        means = state.sums / jnp.maximum(state.counts, 1.0)
        below, above = means - state.level / 2, means + state.level / 2
        worse = jnp.maximum(below[0], below[2])
        differ = (worse >= jnp.minimum(above[0], above[2]) + state.level) | (worse >= above[1] + state.level)
        cut, closer = enough & differ, enough & ~differ
        points, left = self._points(state), below[0] >= below[2]
        return State(
            low=jnp.where(cut & left, points[0], state.low),
            high=jnp.where(cut & ~left, points[2], state.high),
            epoch=state.epoch + cut,
            level=jnp.where(cut, 0.5 * self.range, jnp.where(closer, state.level / 2, state.level)),
            counts=jnp.where(cut, 0.0, state.counts),
            sums=jnp.where(cut, 0.0, state.sums),
        )


def build(task: Task, noise: Noise) -> IntervalSearch:
    learner = IntervalSearch(**numbers_of(task, noise))
    if (size := learner.region.size) != 1:
        raise ConfigurationError(f"{task.learner} searches an interval: dimension 1, got {size} free coordinates")
    return learner
