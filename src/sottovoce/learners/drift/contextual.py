"""A theta that changes: the scale-free learner that starts again when directions are long again, or forgets.

**Sudden.** While theta stays as it is, the mean direction that people report becomes shorter, and once the learner has
found theta it is nearly zero. When theta changes it is long at once; then the learner follows, and it falls again. For
every mark (`marks.py`) the mean direction of the n2 reports since is compared with that of the n1 before:

    alarm, if  |mean2| >= |mean1| + sqrt(v (d + 2 sqrt(d x) + 2 x) / n2)  and  n1 >= age,    x = level + ln(T / 2^s)

    d -> dimension    T -> horizon    v: the mean square of what was reported along mean2 since the start

The length of a mean over its deviation in the same direction is at most the Mahalanobis length, so for n2 Gaussian
vectors with mean zero the root is exceeded with chance at most exp(-x) (Laurent and Massart, "Adaptive estimation of a
quadratic functional by model selection", Annals of Statistics 2000). v is known from all products of two coordinates;
with more than `WIDEST` coordinates these are too many, and v is the noise of the mechanism plus the mean square of a
person's own direction times the residual, cut + (1 - cut) / 3 if those below the clip are evenly spread.

No false-alarm rate is proved: a learner that has not found theta yet need not report shorter directions with every
model. `level` was chosen, and how often there are alarms where nothing changes was measured (docs/drift.md).

A new theta near the old one gives no alarm: the iterates are there before a change is proved. So that the average that
is published follows them, its weights stay as they are from `memory` reports on, an eighth of the horizon.

**Slow.** Time stops at `memory` reports: step, clip, trials and the weight of a new iterate in the average stay as they
are then. Until then it is the learner as it is.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Learner, Offer, choose, configuration
from sottovoce.learners.contextual import scale_free
from sottovoce.learners.contextual.lines import Products, no_products, with_products
from sottovoce.learners.drift.marks import Marks, added, closed, lengths, means, no_marks
from sottovoce.privacy.domains import DirectionEstimate
from sottovoce.privacy.noise import Noise

WIDEST = 100
"""More coordinates have too many products."""
LEVEL = 1.0
AGE = 1024.0
SHARE = 1 / 8
"""Of the horizon: the memory of the average in a sudden world."""
MEMORY = 4.0
"""Of a slow world, in units of the horizon to the power 2/3. See docs/drift.md for all four."""


class State(NamedTuple):
    inner: scale_free.State
    marks: Marks
    products: Products
    alarms: jax.Array
    """How often it started again."""


class Comparing:
    """A learner that compares what people report now and before: offers and reports are those of the one inside."""

    inner: Any

    def ask(self, state: Any, key: Key) -> Offer:
        return self.inner.ask(state.inner, key)

    def tell(self, state: Any, memo: tuple, estimate: DirectionEstimate) -> Any:
        return state._replace(inner=self.inner.tell(state.inner, memo, estimate))

    def changes(self, state: Any) -> jax.Array:
        return state.alarms


@configuration("horizon")
class RestartingDescent(Comparing):
    """The scale-free learner, which starts again when theta has changed."""

    inner: Any
    horizon: int
    deviation: float
    level: float
    age: float
    memory: float

    def init(self) -> State:
        d = self.inner.dimension
        marks = no_marks((), len(lengths(self.horizon)), 1 + d)
        return State(self.inner.init(), marks, no_products(d if d <= WIDEST else 0), jnp.zeros(()))

    def tell(self, state: State, memo: tuple, estimate: DirectionEstimate) -> State:
        products = with_products(state.products, DirectionEstimate(*estimate).direction)
        return super().tell(state, memo, estimate)._replace(products=products)

    def refresh(self, state: State) -> State:
        """A step, and a look for a change in all that was told since the last model."""
        fresh = jnp.concatenate([state.inner.waiting[None], state.inner.sum.direction])
        marks = added(state.marks, fresh)
        inner = _stopped(self.inner.refresh(state.inner), self.memory)
        after = state._replace(inner=inner, marks=closed(marks, lengths(self.horizon)))
        again = self.init()._replace(alarms=state.alarms + 1)
        return choose(state.inner.waiting > 0, choose(self._changed(marks, state.products), again, after), state)

    def _changed(self, marks: Marks, products: Products) -> jax.Array:
        before, recent = means(marks.before), means(marks.recent)
        variance = variance_along(recent, products, self.deviation, self.inner.cut)
        rarity = self.level + jnp.log(self.horizon / lengths(self.horizon))
        longer = is_longer(recent, before, variance / reports(marks.recent), rarity)
        return jnp.any(longer & (reports(marks.before) >= self.age))


def variance_along(vectors: jax.Array, products: Products, deviation: float, cut: float) -> jax.Array:
    """The mean square of a report along each vector; `deviation` is that of the noise, `cut` the share of residuals."""
    if not products.sum.size:
        return jnp.asarray(deviation**2 + cut + (1 - cut) / 3)
    squares = jnp.sum((vectors @ products.sum) * vectors, axis=-1) / jnp.maximum(products.reports, 1e-6)
    return squares / jnp.maximum(jnp.sum(vectors**2, axis=-1), 1e-300)


def is_longer(recent: jax.Array, before: jax.Array, variance: jax.Array, x: jax.Array) -> jax.Array:
    """For each mark: is the recent mean longer than noise explains? `variance` is that of the recent mean."""
    d = recent.shape[-1]
    noise = jnp.sqrt(variance * (d + 2 * jnp.sqrt(d * x) + 2 * x))
    return _length(recent) >= _length(before) + noise


def reports(sums: jax.Array) -> jax.Array:
    return jnp.maximum(sums[..., 0], 1e-6)


def _length(vectors: jax.Array) -> jax.Array:
    return jnp.sqrt(jnp.sum(vectors**2, axis=-1))


@configuration()
class ForgettingDescent:
    """The scale-free learner, for which time stops at `memory` reports."""

    inner: Any
    memory: float

    def init(self) -> scale_free.State:
        return self.inner.init()

    def ask(self, state: scale_free.State, key: Key) -> Offer:
        return self.inner.ask(state, key)

    def tell(self, state: scale_free.State, memo: tuple, estimate: DirectionEstimate) -> scale_free.State:
        return self.inner.tell(state, memo, estimate)

    def refresh(self, state: scale_free.State) -> scale_free.State:
        after = self.inner.refresh(state)
        stopped = _stopped(after, self.memory)
        share = stopped.reports / jnp.maximum(after.reports, 1e-300)
        return stopped._replace(squares=after.squares * share)


def _stopped(state: scale_free.State, memory: float) -> scale_free.State:
    """Time is at most `memory`."""
    return state._replace(reports=jnp.minimum(state.reports, memory))


def restarting(learner: Learner, task: Task, noise: Noise) -> RestartingDescent:
    return RestartingDescent(
        inner=learner,
        horizon=task.rounds,
        deviation=noise.per_block[0],
        level=LEVEL,
        age=AGE,
        memory=max(1.0, SHARE * task.rounds),
    )


def forgetting(learner: Learner, task: Task, noise: Noise) -> ForgettingDescent:
    return ForgettingDescent(inner=learner, memory=max(1.0, MEMORY * task.rounds ** (2 / 3)))
