"""OFUL: optimism in the face of uncertainty for linear rewards, without privacy.

Abbasi-Yadkori, Pal, Szepesvari, "Improved algorithms for linear stochastic bandits", NeurIPS 2011, figure 1 and
theorem 2; the non-private column of Zheng et al. 2020, table 1, for contextual linear bandits. Symbols:

    V_t^-1 -> state.precision    sum y x -> state.moment    ln det V_t/det lambda I -> state.volume    lambda -> ridge

Theorem 2 gives the width R sqrt(ln(det V/det(lambda I)) + 2 ln(1/delta)) + sqrt(lambda) S. Preset `paper` takes it as
it is; `practical` multiplies it by `bonus`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.learners.linalg import with_features
from sottovoce.protocol.offers import LinearModel
from sottovoce.sim.comparators.raw import RawAnswer


class State(NamedTuple):
    precision: jax.Array
    moment: jax.Array
    volume: jax.Array


@configuration("dimension")
class Oful:
    """Rewards in [-1, 1], so R = 1; ||theta*|| <= radius."""

    dimension: int
    ridge: float
    radius: float
    failure: float
    bonus: float

    def init(self) -> State:
        return State(jnp.eye(self.dimension) / self.ridge, jnp.zeros(self.dimension), jnp.zeros(()))

    def ask(self, state: State, key: Key) -> Offer:
        width = jnp.sqrt(state.volume - 2 * jnp.log(self.failure)) + self.radius * jnp.sqrt(self.ridge)
        return Offer(LinearModel(state.precision @ state.moment, state.precision, self.bonus * width, jnp.zeros(())))

    def tell(self, state: State, memo: tuple, estimate: RawAnswer) -> State:
        precision, new = with_features(state.precision, estimate.features)
        moment = state.moment + estimate.reward * estimate.features
        return State(precision, moment, state.volume + jnp.log1p(new))


def build(task: Task) -> Oful:
    numbers = {name: float(value) for name, value in task.tuning.items()}
    return Oful(dimension=task.dimension, **numbers)
