"""Follow the regularised leader with a self-concordant barrier: explore far where there is room, little near the edge.

Saha and Tewari, "Improved regret guarantees for online smooth convex optimization with bandit feedback", AISTATS 2011
(convex and smooth), and Hazan and Levy, "Bandit convex optimization: towards tight bounds", NeurIPS 2014 (strongly
convex and smooth). Black boxes of the paper's Algorithm 1. With mu = 0 the second is the first, but for delta:

    B_t^-2 = (Hess R(y_t) + eta mu t I) / delta^2      play y_t + B_t u_t      g_t = d Y_t B_t^-1 u_t
    y_{t+1} = argmin_x eta sum <g_s, x> + eta mu/2 sum |x - y_s|^2 + R(x)

    y_t -> state.iterate    sum g_s -> state.gradients    sum y_s -> state.iterates    B_t^-1 u_t -> memo.lever

Any root of B_t^2 will do in place of the symmetric one, because u_t is uniform on the sphere: we take the triangular
root, which needs no eigenvalues. The minimiser is found by damped Newton steps from the last iterate.

Constants, with C as in `one_point` and nu the barrier's parameter, D the diameter:
- Saha and Tewari: a = 2 d C sqrt(2 nu T ln T), b = T beta D^2/4, delta = min(1, (a/2b)^(1/3)),
  eta = delta sqrt(nu ln T/(2 T))/(d C); regret at most 3/2^(2/3) a^(2/3) b^(1/3) + 2 B.
- Hazan and Levy: delta = 1, eta = sqrt((nu + 2 beta/mu) ln T/(2 d^2 C^2 T)).
- `reach` and `pace` multiply delta and eta. Observations are cut at delta/(2 eta d), where a step could leave the
  barrier's domain: a precaution that bounded reports do not need at any horizon that matters.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.learners.convex.one_point import scales_of
from sottovoce.learners.convex.regions import on_sphere, region_of
from sottovoce.learners.linalg import cholesky, solve, solve_transposed
from sottovoce.learners.losses import loss_of
from sottovoce.privacy.noise import Noise

NEWTON_STEPS = 4


class State(NamedTuple):
    iterate: jax.Array
    gradients: jax.Array
    iterates: jax.Array
    told: jax.Array


class Memo(NamedTuple):
    iterate: jax.Array
    lever: jax.Array


@configuration()
class BarrierDescent:
    """See the module's first lines."""

    region: Any
    explore: float
    """delta"""
    rate: float
    """eta"""
    strength: float
    """mu, or 0"""
    middle: float

    def init(self) -> State:
        zeros = jnp.zeros(self.region.size)
        origin = self._minimise(zeros, zeros, zeros, jnp.zeros(()), steps=60)
        return State(origin, zeros, zeros, jnp.zeros(()))

    def ask(self, state: State, key: Key) -> Offer:
        root = cholesky(self._curvature(state.iterate, state.told + 1)) / self.explore
        direction = on_sphere(key, self.region.size)
        played = state.iterate + solve_transposed(root, direction)
        return Offer(self.region.place(played), Memo(state.iterate, root @ direction))

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        size = self.region.size
        most = self.explore / (2 * self.rate * size)
        loss = loss_of(estimate, self.middle)
        gradients = state.gradients + size * jnp.clip(loss - self.middle, -most, most) * memo.lever
        iterates, told = state.iterates + memo.iterate, state.told + 1
        iterate = self._minimise(state.iterate, gradients, iterates, told, steps=NEWTON_STEPS)
        return State(iterate, gradients, iterates, told)

    def _curvature(self, point: jax.Array, time: jax.Array) -> jax.Array:
        return self.region.hessian(point) + self.rate * self.strength * time * jnp.eye(self.region.size)

    def _minimise(
        self, start: jax.Array, gradients: jax.Array, iterates: jax.Array, told: jax.Array, steps: int
    ) -> jax.Array:
        """Damped Newton steps, which never leave the region: each stays in the Dikin ellipsoid of its start."""

        def step(_: int, point: jax.Array) -> jax.Array:
            pull = self.rate * (gradients + self.strength * (told * point - iterates))
            slope = pull + self.region.slope(point)
            root = cholesky(self._curvature(point, told))
            scaled = solve(root, slope)
            return point - solve_transposed(root, scaled) / (1 + jnp.sqrt(scaled @ scaled))

        return lax.fori_loop(0, steps, step, start)


def build(task: Task, noise: Noise) -> BarrierDescent:
    """The learner for this task and this noise."""
    region, scales = region_of(task.region, task.dimension), scales_of(task, noise)
    size, rounds, logarithm = region.size, task.rounds, math.log(max(task.rounds, 2))
    smoothness = float(task.tuning["smoothness"])
    if scales.strength:
        explore = 1.0
        rate = math.sqrt((region.nu + 2 * smoothness / scales.strength) * logarithm / (2 * rounds)) / (
            size * scales.bound
        )
    else:
        variance = 2 * size * scales.bound * math.sqrt(2 * region.nu * rounds * logarithm)
        bias = rounds * smoothness * float(region.outer) ** 2
        explore = min(1.0, float(task.tuning["reach"]) * (variance / (2 * bias)) ** (1 / 3))
        rate = explore * math.sqrt(region.nu * logarithm / (2 * rounds)) / (size * scales.bound)
    return BarrierDescent(
        region=region,
        explore=explore,
        rate=float(task.tuning["pace"]) * rate,
        strength=scales.strength,
        middle=scales.middle,
    )
