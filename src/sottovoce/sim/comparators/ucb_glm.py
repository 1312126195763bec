"""UCB-GLM: optimism around the maximum-likelihood estimate, without privacy.

Li, Lu, Zhou, "Provably optimal algorithms for generalized linear contextual bandits", ICML 2017, algorithm 1; the
non-private column of Zheng et al. 2020, table 1, for generalised linear bandits. Symbols:

    V_t^-1 -> state.precision    theta^_t -> state.theta    tau -> warm * d random rounds
    alpha -> width = bonus * (3 R / mu) sqrt((d/2) ln(1 + 2 t/d) + ln(1/delta))

Departures: their estimate solves the likelihood equations of the whole history in every round; the state here has a
constant size, so each reward enters by one Newton step, with the curvature of the likelihood taken where it was when
the reward came (state.covariance: an extended Kalman filter), and the estimate stays in the declared ball, outside
which a flat link would carry it away. A unit ridge stands for their tau, which depends on
unknown eigenvalues. Preset `paper` takes alpha as it is; `practical` multiplies it by `bonus`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.learners.linalg import with_features
from sottovoce.privacy.domains import shorten
from sottovoce.protocol.links import Link, link_of
from sottovoce.protocol.offers import LinearModel
from sottovoce.sim.comparators.raw import RawAnswer


class State(NamedTuple):
    precision: jax.Array
    covariance: jax.Array
    theta: jax.Array
    reports: jax.Array


@configuration("dimension", "link")
class UcbGlm:
    """Optimism around an estimate that takes one Newton step a reward."""

    dimension: int
    link: Link
    warm: float
    failure: float
    bonus: float

    def init(self) -> State:
        d = self.dimension
        return State(jnp.eye(d), jnp.eye(d), jnp.zeros(d), jnp.zeros(()))

    def ask(self, state: State, key: Key) -> Offer:
        explored = jnp.where(state.reports < self.warm * self.dimension, 1.0, 0.0)
        return Offer(LinearModel(state.theta, state.precision, self._width(state.reports), explored))

    def _width(self, time: jax.Array) -> jax.Array:
        volume = self.dimension / 2 * jnp.log1p(2 * time / self.dimension)
        return self.bonus * 3 * self.link.deviation / self.link.least_slope * jnp.sqrt(volume - jnp.log(self.failure))

    def tell(self, state: State, memo: tuple, estimate: RawAnswer) -> State:
        x, z = estimate.features, estimate.features @ state.theta
        covariance, _ = with_features(state.covariance, x, self.link.slope(jnp, z))
        theta = state.theta + covariance @ x * (estimate.reward - self.link.mean(jnp, z))
        precision, _ = with_features(state.precision, x)
        return State(precision, covariance, shorten(jnp, theta, self.link.radius), state.reports + 1)


def build(task: Task) -> UcbGlm:
    numbers = {name: float(task.tuning[name]) for name in ("warm", "failure", "bonus")}
    return UcbGlm(dimension=task.dimension, link=link_of(task.tuning), **numbers)
