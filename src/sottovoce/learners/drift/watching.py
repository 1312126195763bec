"""Features that come later: the scale-free learner takes long steps again where people report long directions again.

With time its steps become shorter and its average slower. That is right as long as the same kind of people come. When
features appear that nobody had before (a product of a new sort, another audience), or theta changes though nobody
declared it, the way is long again, and with short steps it takes most of the horizon.

What is compared is the mean direction that people report, since each mark (`marks.py`) and before it, as in
`contextual.py`; here times the clip, in units of rewards: a clip that shrinks makes the same residual look longer.
After an alarm nothing that was learned is given up. The learner only counts time from the mark on: its steps, the
weights of its average and its trials are those after so many reports. A false alarm costs little, therefore, where
noise is loud. Where there is hardly any (`QUIET`) the learner's own way to theta would look like a change, so there
nothing is compared.

Nobody asked for this, so it must be cheap: every second distance of the marks is enough, and the variance along a mean
is taken from products of coordinates only where these are few and the learner has them anyway (`lines.py`).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Learner, choose, configuration
from sottovoce.learners.contextual import scale_free
from sottovoce.learners.contextual.lines import Products, no_products
from sottovoce.learners.drift.contextual import (
    AGE,
    LEVEL,
    Comparing,
    is_longer,
    reports,
    variance_along,
)
from sottovoce.learners.drift.marks import Marks, added, closed, lengths, means, no_marks
from sottovoce.privacy.noise import Noise

QUIET = 0.03
"""Variance of the noise of a reported coordinate: about that at epsilon 11 in five dimensions."""
FEW = 10
"""Coordinates. The variance along the means of more would take as long as the rest of a round."""


class State(NamedTuple):
    inner: scale_free.State
    marks: Marks
    """Reports, the sum of the squares of their clips, and of their directions times the clip."""
    alarms: jax.Array
    """How often steps became long again."""


@configuration("horizon")
class WatchingDescent(Comparing):
    """The scale-free learner, whose steps become long again where what people report does."""

    inner: Any
    horizon: int
    deviation: float
    level: float
    age: float

    def init(self) -> State:
        marks = no_marks((), len(self._lengths()), 2 + self.inner.dimension)
        return State(self.inner.init(), marks, jnp.zeros(()))

    def refresh(self, state: State) -> State:
        """A step, and a look at what was reported since each mark."""
        told, clip = state.inner, jnp.exp(state.inner.log_clip)
        fresh = jnp.concatenate([told.waiting * jnp.stack([jnp.ones(()), clip**2]), clip * told.sum.direction])
        marks, inner = added(state.marks, fresh), self.inner.refresh(told)
        products = inner.products if self.inner.dimension <= FEW else no_products(0)
        since = jnp.max(jnp.where(self._longer(marks, products), marks.recent[..., 0], 0.0))
        share = jnp.minimum(1.0, since / jnp.maximum(inner.reports, 1e-300))
        younger = inner._replace(reports=share * inner.reports, squares=share * inner.squares)
        again = self.init()._replace(inner=younger, alarms=state.alarms + 1)
        after = state._replace(inner=inner, marks=closed(marks, self._lengths()))
        return choose(told.waiting > 0, choose(since > 0, again, after), state)

    def _longer(self, marks: Marks, products: Products) -> jax.Array:
        """For which marks the mean direction since, in units of rewards, is longer than before."""
        before, recent = means(marks.before)[..., 1:], means(marks.recent)
        squares, recent = recent[..., 0], recent[..., 1:]
        variance = squares * variance_along(recent, products, self.deviation, self.inner.cut)
        rarity = self.level + jnp.log(self.horizon / self._lengths())
        longer = is_longer(recent, before, variance / reports(marks.recent), rarity)
        return longer & (reports(marks.before) >= self.age)

    def _lengths(self) -> jax.Array:
        return lengths(self.horizon)[::2]


def watching(learner: Learner, task: Task, noise: Noise) -> Learner:
    if noise.per_block[0] ** 2 < QUIET:
        return learner
    return WatchingDescent(inner=learner, horizon=task.rounds, deviation=noise.per_block[0], level=LEVEL, age=AGE)
