"""GLOC with online Newton steps: a generalised linear bandit with constant work a round, without privacy.

Jun, Bhargava, Nowak, Willett, "Scalable generalized linear bandits: online computation and hashing", NeurIPS 2017; what
Zheng et al. 2020 made private in their Algorithm 3. Symbols, with lambda = 1 for both matrices, which then coincide:

    V_t = A_t -> state.matrix, its inverse -> state.precision    sum z x -> state.moment    sum z^2 -> state.squares
    theta_t (Newton) -> state.anchor    B_t -> state.descent    kappa -> least slope of the link    delta -> failure

    alpha_t = 1 + (4/kappa) B_t + (8 R^2/kappa^2) ln((2/delta) sqrt(1 + (2/kappa) B_t + 4 R^4/(kappa^4 delta^2)))
    beta_t  = alpha_t + S^2 - (sum z^2 - theta^' sum z x)

Preset `paper` takes sqrt(beta_t) as the width; `practical` multiplies it by `bonus`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.learners.linalg import inverse, with_features
from sottovoce.privacy.domains import shorten
from sottovoce.protocol.links import Link, link_of
from sottovoce.protocol.offers import LinearModel
from sottovoce.sim.comparators.raw import RawAnswer

PROJECTION_STEPS = 6
"""Newton steps of a projection; they converge quadratically and monotonically."""


class State(NamedTuple):
    matrix: jax.Array
    precision: jax.Array
    moment: jax.Array
    squares: jax.Array
    anchor: jax.Array
    descent: jax.Array


@configuration("dimension", "link")
class Gloc:
    """Optimism around a regression on the predictions of online Newton steps."""

    dimension: int
    link: Link
    failure: float
    bonus: float

    def init(self) -> State:
        d, zero = self.dimension, jnp.zeros(())
        start = 2 * self.link.least_slope * self.link.radius**2 + zero
        return State(jnp.eye(d), jnp.eye(d), jnp.zeros(d), zero, jnp.zeros(d), start)

    def ask(self, state: State, key: Key) -> Offer:
        theta = state.precision @ state.moment
        kappa, proxy = self.link.least_slope, self.link.deviation**2
        inner = 1 + 2 / kappa * state.descent + 4 * proxy**2 / (kappa**4 * self.failure**2)
        alpha = 1 + 4 / kappa * state.descent + 8 * proxy / kappa**2 * jnp.log(2 / self.failure * jnp.sqrt(inner))
        beta = alpha + self.link.radius**2 - (state.squares - theta @ state.moment)
        width = self.bonus * jnp.sqrt(jnp.maximum(beta, 0.0))
        return Offer(LinearModel(theta, state.precision, width, jnp.zeros(())))

    def tell(self, state: State, memo: tuple, estimate: RawAnswer) -> State:
        x, z = estimate.features, estimate.features @ state.anchor
        residual, kappa = self.link.mean(jnp, z) - estimate.reward, self.link.least_slope
        matrix = state.matrix + jnp.outer(x, x)
        precision, _ = with_features(state.precision, x)
        stepped = state.anchor - residual / kappa * (precision @ x)
        return State(
            matrix,
            precision,
            state.moment + z * x,
            state.squares + z**2,
            nearest_in_ball(matrix, stepped, self.link.radius),
            state.descent + residual**2 * (x @ precision @ x) / (2 * kappa),
        )


def nearest_in_ball(matrix: jax.Array, vector: jax.Array, radius: float) -> jax.Array:
    """The point of the ball nearest to `vector` in the norm of `matrix`.

    Outside the ball it is (matrix + multiplier I)^-1 matrix vector, of length `radius`; the multiplier is the root of
    1/radius - 1/length, by Newton's method (More and Sorensen 1983).

    >>> nearest_in_ball(jnp.eye(2), jnp.array([3.0, 4.0]), 1.0).round(3).tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    pulled = matrix @ vector

    def newton(step: int, multiplier: jax.Array) -> jax.Array:
        precision, _ = inverse(matrix + multiplier * jnp.eye(len(vector)))
        found = precision @ pulled
        length = jnp.maximum(jnp.sqrt(found @ found), 1e-30)
        slope = jnp.maximum(found @ precision @ found, 1e-30)
        return jnp.maximum(multiplier + length**2 / slope * (length - radius) / radius, 0.0)

    multiplier = lax.fori_loop(0, PROJECTION_STEPS, newton, jnp.zeros(()))
    precision, _ = inverse(matrix + multiplier * jnp.eye(len(vector)))
    return shorten(jnp, precision @ pulled, radius)


def build(task: Task) -> Gloc:
    numbers = {name: float(task.tuning[name]) for name in ("failure", "bonus")}
    return Gloc(dimension=task.dimension, link=link_of(task.tuning), **numbers)
