"""LinUCB on private moments: the best action is linear in the features, which never leave the device.

Zheng et al. 2020, appendix, "Contextual linear bandits with LDP" (preset `paper`, rule "paper"):

    V~_t -> state.gram    u~_t -> state.moment    theta~_t, beta_t -> state.model    c_t -> ridge
    Upsilon_t -> spectral noise

Departures from the algorithm box: c_t is at least 1, because V~_0 + c_0 I = 0 has no inverse; and where noise leaves
the matrix indefinite the last model stays.

Rule "practical" (what we recommend) keeps the sums and changes everything around them:
- the report is one joint sphere report of (x x', y x), several times less noise under a stronger promise;
- the ridge follows the noise: c_t = 1 + ridge * s sqrt(2 d t), where s sqrt(2 d t) is the spectral norm of the noise in
  the summed matrix (a random symmetric matrix whose entries have deviation s, s/sqrt 2 off the diagonal);
- negative eigenvalues of the summed matrix are noise and are set to zero before the ridge is added;
- width = bonus * (sqrt(c_t) + sqrt(d ln(1 + t/d))): the paper's beta exceeds the whole range of rewards for any horizon
  that matters, and injected noise already explores;
- the first `warm` rounds per dimension explore; a new model is published after one percent of new rounds (`growth`).

At zero noise both rules are the usual LinUCB with ridge 1.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.learners.linalg import inverse, ridge_inverse
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

    def _start(self, explore: float) -> State:
        d = self.dimension
        model = LinearModel(jnp.zeros(d), jnp.eye(d), jnp.ones(()), jnp.full((), explore))
        return State(jnp.zeros((d, d)), jnp.zeros(d), jnp.zeros(()), model)

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

    def init(self) -> State:
        return self._start(explore=0.0)

    def refresh(self, state: State) -> State:
        ridge = jnp.maximum(2 * self._spectral_noise(state.reports), 1.0)
        precision, definite = inverse(state.gram + ridge * jnp.eye(self.dimension))
        model = LinearModel(precision @ state.moment, precision, self._width(state.reports + 1), jnp.zeros(()))
        return state._replace(model=jax.tree.map(lambda new, old: jnp.where(definite, new, old), model, state.model))

    def _spectral_noise(self, time: jax.Array) -> jax.Array:
        return self.sigma * jnp.sqrt(time) * (4 * math.sqrt(self.dimension) + 2 * jnp.log(2 * self.rounds / self.alpha))

    def _width(self, time: jax.Array) -> jax.Array:
        d, horizon = self.dimension, jnp.log(self.rounds)
        spectral = jnp.maximum(self._spectral_noise(time), 1.0)
        bias = jnp.sqrt(3 * spectral) + self.sigma * jnp.sqrt(d * time / spectral)
        return 2 * self.sigma * jnp.sqrt(d * horizon) + bias * d * horizon


@configuration("dimension", "growth")
class PracticalLinUcb(SummedMoments):
    """The rule we recommend."""

    deviation: float
    ridge: float
    bonus: float
    warm: float

    def init(self) -> State:
        return self._start(explore=1.0)

    def refresh(self, state: State) -> State:
        d, time = self.dimension, state.reports
        ridge = 1 + self.ridge * self.deviation * jnp.sqrt(2 * d * time)
        precision = ridge_inverse(state.gram, ridge)
        width = self.bonus * (jnp.sqrt(ridge) + jnp.sqrt(d * jnp.log1p(time / d)))
        explore = jnp.where(time < self.warm * d, 1.0, 0.0)
        return state._replace(model=LinearModel(precision @ state.moment, precision, width, explore))


def build(task: Task, noise: Noise) -> PaperLinUcb | PracticalLinUcb:
    """The learner for this task and this noise."""
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
