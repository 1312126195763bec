"""Follow the regularised leader with a self-concordant barrier: explore far where there is room, little near the edge.

For `saha_tewari` (mu = 0) and `hazan_levy` (strongly convex with mu):

    B_t^-2 = (Hess R(y_t) + eta mu t I) / delta^2      play y_t + B_t u_t      g_t = d Y_t B_t^-1 u_t
    y_{t+1} = argmin_x eta sum <g_s, x> + eta mu/2 sum |x - y_s|^2 + R(x)

    y_t -> state.iterate    sum g_s -> state.gradients    sum y_s -> state.iterates    B_t^-1 u_t -> memo.lever

Any root of B_t^2 will do in place of the symmetric one, because u_t is uniform on the sphere: we take the triangular
root, which needs no eigenvalues. The minimiser is found by damped Newton steps from the last iterate.

`reach` and `pace` multiply delta and eta. Observations are cut at delta/(2 eta d), where a step could leave the
barrier's domain: a precaution that bounded reports do not need at any horizon that matters.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from sottovoce.learners.base import Key, Offer, configuration, loss_of
from sottovoce.learners.convex.regions import on_sphere
from sottovoce.learners.linalg import cholesky, damped_newton, solve_transposed

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
    """The leader on estimated gradients, regularised by the region's barrier."""

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
            return point - damped_newton(self._curvature(point, told), slope)

        return lax.fori_loop(0, steps, step, start)
