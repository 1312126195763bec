"""Linear bandit optimisation by a curator who perturbs loss functions. The curator is told raw losses.

Agarwal and Singh, "The price of differential privacy for online learning" (ICML 2017): a bandit algorithm is told
<l_t + n_t, x_t> in place of <l_t, x_t>, with a fresh noise vector n_t. Black box: SCRiBLe (Abernethy, Hazan and
Rakhlin, COLT 2008), the leader regularised by the region's barrier R:

    z_{t+1} = argmin eta <G, z> + R(z)    played: z_t + A^-T u, ||u|| = 1, A A' = R''(z_t)    G += n * value * A u

n is the number of free coordinates. The points played are in Dikin's ellipsoid, so in the region.

*Promise.* epsilon-DP of the sequence of points, for neighbours that differ in one person's loss vector (one round), *if
losses are linear*: f_t(x) = <l_t, x> with ||l_t|| <= 1/outer, so |f_t| <= 1. *Proof.* l_t moves by at most 2/outer in
L2, and 2 sqrt(d)/outer in L1. l_t + n_t is epsilon-DP with Laplace noise for the L1 distance (preset `published`), and
with noise of density ~ exp(-epsilon ||n|| outer/2) for the L2 distance (preset `practical`): a coordinate then has the
variance (d + 1) b^2 in place of 2 d b^2, b = 2/(outer epsilon). All that is used of l_t + n_t is a product with x_t.

**The leak.** The promise is about functions, not about numbers. The noise <n_t, x_t> vanishes at x_t = 0, where every
linear loss is 0 and has nothing to hide. Any other loss does: told f_t(0) with no noise at all, the curator's output
may show it. That is why Zheng et al. put noise on the value itself; a test shows the leak.

Departures: eta = sqrt(nu ln T/(2 n^2 V T)), V = 1 + E<n_t, x>^2 at the farthest point, at most 1/(16 n sqrt V); the
argmin is followed by three damped Newton steps a round; A is Cholesky's factor, not the symmetric root.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration, loss_of
from sottovoce.learners.convex.regions import on_sphere, region_of
from sottovoce.learners.linalg import cholesky, damped_newton, solve_transposed
from sottovoce.sim.comparators.tree import radial
from sottovoce.sim.random import sealed, unsealed


class State(NamedTuple):
    centre: jax.Array
    gradients: jax.Array


class Memo(NamedTuple):
    point: jax.Array
    slope: jax.Array
    """A u: the direction of the gradient's estimate."""
    seal: jax.Array


@configuration("noise")
class LinearPerturbation:
    """The leader regularised by a barrier, told losses with the noise of a linear function."""

    region: Any
    noise: str
    scale: float
    eta: float

    def init(self) -> State:
        return State(jnp.zeros(self.region.size), jnp.zeros(self.region.size))

    def ask(self, state: State, key: Key) -> Offer:
        direction = on_sphere(key, self.region.size)
        root = cholesky(self.region.hessian(state.centre))
        point = self.region.place(state.centre + solve_transposed(root, direction))
        return Offer(point, Memo(point, root @ direction, sealed(key)))

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        value = loss_of(estimate, 0.0) + self.noise_at(memo.point, unsealed(memo.seal))
        gradients = state.gradients + self.region.size * value * memo.slope
        centre = state.centre
        for _ in range(3):
            pull = self.eta * gradients + self.region.slope(centre)
            centre = centre - damped_newton(self.region.hessian(centre), pull)
        return State(centre, gradients)

    def noise_at(self, point: jax.Array, key: Key) -> jax.Array:
        """<n_t, x>: the noise of the function n_t at one point; none at the origin."""
        size = len(point)
        vector = radial(key, size) if self.noise == "radial" else jax.random.laplace(key, (size,), dtype=point.dtype)
        return self.scale * (vector @ point)


def build(task: Task) -> LinearPerturbation:
    region = region_of(task.region, task.dimension)
    n, reach = region.size, float(region.outer)
    farthest = reach**2 + float(jnp.sum(region.place(jnp.zeros(n)) ** 2))  # squared; the middle of a simplex is not 0
    noise, step = str(task.tuning["noise"]), 2 / reach / task.epsilon
    scale, variance = (step, task.dimension + 1) if noise == "radial" else (step * math.sqrt(task.dimension), 2)
    moment = 1 + variance * scale**2 * farthest
    eta = math.sqrt(region.nu * math.log(task.rounds + 1) / (2 * n**2 * moment * task.rounds))
    eta = min(eta, 1 / (16 * n * math.sqrt(moment)))
    return LinearPerturbation(region=region, noise=noise, scale=scale, eta=eta)
