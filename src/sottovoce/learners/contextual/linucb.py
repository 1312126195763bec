"""LinUCB on private moments: the best action is linear in the features, which never leave the device.

Zheng et al. 2020, appendix, "Contextual linear bandits with LDP" (preset `paper`, rule "paper"):

    V~_t -> state.gram    u~_t -> state.moment    theta~_t, beta_t -> state.model    c_t -> ridge
    Upsilon_t -> spectral noise

Departures from the algorithm box: c_t is 1 where it would be 0, for the first person, because V~_0 + c_0 I = 0 has no
inverse; and where noise leaves the matrix indefinite the last model stays.

Rule "practical" (what we recommend) keeps the sums and changes everything around them:
- the report is one joint sphere report of (x x', y x), several times less noise under a stronger promise;
- the ridge follows the noise: c_t = 1 + ridge * s sqrt(2 d t), where s sqrt(2 d t) is the spectral norm of the noise in
  the summed matrix (a random symmetric matrix whose entries have deviation s, s/sqrt 2 off the diagonal);
- negative eigenvalues of the summed matrix are noise and are set to zero before the ridge is added;
- width = bonus * (sqrt(c_t) + sqrt(d ln(1 + t/d))): the paper's beta exceeds the whole range of rewards for any horizon
  that matters, and injected noise already explores;
- the first `warm` rounds per dimension explore; a new model is published after one percent of new rounds (`growth`).

At zero noise both rules regress with ridge 1; the paper's width is 0 then, so that its choice is greedy.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, choose, configuration
from sottovoce.learners.linalg import inverse, one_if_zero, ridge_inverse
from sottovoce.privacy.domains import MomentEstimate
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.offers import LinearModel


class State(NamedTuple):
    gram: jax.Array
    moment: jax.Array
    reports: jax.Array
    model: LinearModel


@dataclass(frozen=True, kw_only=True)
class SummedMoments:
    """What both rules share: the sums, and the model that was published last."""

    dimension: int
    growth: float

    def init(self) -> State:
        d = self.dimension
        return State(jnp.zeros((d, d)), jnp.zeros(d), jnp.zeros(()), first_model(d))

    def ask(self, state: State, key: Key) -> Offer:
        return Offer(state.model)

    def tell(self, state: State, memo: tuple, estimate: MomentEstimate) -> State:
        gram, moment = state.gram + estimate.gram, state.moment + estimate.moment
        return state._replace(gram=gram, moment=moment, reports=state.reports + 1)


@configuration("dimension", "growth")
class PaperLinUcb(SummedMoments):
    """The algorithm box, constants included."""

    sigma: float
    alpha: float
    rounds: float

    def refresh(self, state: State) -> State:
        ridge = one_if_zero(2 * self._spectral_noise(state.reports))
        return state._replace(model=definite_model(state, ridge, self._width(state.reports + 1), state.model))

    def _spectral_noise(self, time: jax.Array) -> jax.Array:
        return self.sigma * jnp.sqrt(time) * (4 * math.sqrt(self.dimension) + 2 * jnp.log(2 * self.rounds / self.alpha))

    def _width(self, time: jax.Array) -> jax.Array:
        d, horizon = self.dimension, jnp.log(self.rounds)
        spectral = self._spectral_noise(time)
        bias = jnp.sqrt(3 * spectral) + self.sigma * jnp.sqrt(d * time / one_if_zero(spectral))
        return 2 * self.sigma * jnp.sqrt(d * horizon) + bias * d * horizon


@configuration("dimension", "growth")
class PracticalLinUcb(SummedMoments):
    """The rule we recommend."""

    deviation: float
    ridge: float
    bonus: float
    warm: float

    def refresh(self, state: State) -> State:
        ridge = 1 + self.ridge * self.deviation * jnp.sqrt(2 * self.dimension * state.reports)
        return state._replace(model=practical_model(state, ridge, state.reports, self.bonus, self.warm))


def first_model(dimension: int) -> LinearModel:
    """Before anything is known: explore."""
    return LinearModel(jnp.zeros(dimension), jnp.eye(dimension), jnp.ones(()), jnp.ones(()))


def definite_model(sums: Any, ridge: jax.Array, width: jax.Array, last: LinearModel) -> LinearModel:
    """The model of these sums; the last one where noise leaves the matrix indefinite."""
    precision, definite = inverse(sums.gram + ridge * jnp.eye(len(sums.moment)))
    return choose(definite, LinearModel(precision @ sums.moment, precision, width, jnp.zeros(())), last)


def practical_model(sums: Any, ridge: jax.Array, time: jax.Array, bonus: float, warm: float) -> LinearModel:
    """The model of these sums by the practical rule."""
    d, precision = len(sums.moment), ridge_inverse(sums.gram, ridge)
    width = bonus * (jnp.sqrt(ridge) + jnp.sqrt(d * jnp.log1p(time / d)))
    explore = jnp.where(time < warm * d, 1.0, 0.0)
    return LinearModel(precision @ sums.moment, precision, width, explore)


def build(task: Task, noise: Noise) -> PaperLinUcb | PracticalLinUcb:
    tuning = dict(task.tuning)
    if tuning.pop("rule") == "paper":
        return PaperLinUcb(
            dimension=task.dimension,
            growth=1.0,
            sigma=noise.per_block[0],
            alpha=float(tuning["alpha"]),
            rounds=float(task.rounds),
        )
    numbers = {name: float(value) for name, value in tuning.items()}
    return PracticalLinUcb(dimension=task.dimension, deviation=noise.per_block[0], **numbers)
