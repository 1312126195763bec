"""Convex bandit optimisation by a curator: the leader on noisy sums of one-point gradients. Losses are told raw.

After Thakurta and Smith, "(Nearly) optimal algorithms for private online learning in full-information and bandit
settings" (NeurIPS 2013), with the one-point gradients of Flaxman, Kalai and McMahan (2005):

    z_{t+1} = argmin over (1 - xi) X of eta <G~_t, z> + ||z||^2/2 = projection of -eta G~_t
    played: z_t + rho u_t, ||u_t|| = 1    g_t = (n/rho) (loss - 1/2) u_t    G~_t: sum of the g_s, released by a tree

n is the number of free coordinates. The 1/2 keeps g_t an unbiased gradient of the smoothed loss, with half the length.

*Promise.* DP of the sequence of points, for neighbours that differ in one person's loss function (one round). *Proof.*
u_t is drawn without looking at data. Given the point played, another loss function changes the clipped loss by at most
1, so g_t by at most n/rho in L2; the tree does the rest (see `tree`). Preset `practical`: normal noise, (epsilon,
delta). Preset `pure`: noise of density ~ exp(-epsilon ||z||/(m n/rho)), as in the paper, epsilon alone.

Departures: the paper's constants are not reproduced. rho balances its own two costs, the bias 3 rho T/D of a loss of
slope 1/D and the variance term D n sqrt(T)/(2 rho): rho^2 = D^2 n/(6 sqrt(T)), D = 2 outer, at most half of the inner
radius; xi = rho/inner keeps the points inside. eta = D/sqrt(T (n^2/(4 rho^2) + 2 noise/D)), where `noise` is the
largest expected norm of the tree's noise: it displaces the leader by eta * noise, at a cost of 1/D per unit.
"""

import math
from typing import Any, NamedTuple

import jax

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration, loss_of
from sottovoce.learners.convex.regions import on_sphere, region_of
from sottovoce.sim.comparators.tree import Tree, add, levels_for, normal_scale, radial, radial_scale, released, sprout
from sottovoce.sim.random import normals, sealed, unsealed


class Memo(NamedTuple):
    direction: jax.Array
    seal: jax.Array


@configuration("levels", "pure")
class TreeBco:
    """Descent on a noisy running sum of gradients, released by a tree."""

    region: Any
    levels: int
    pure: bool
    scale: float
    rho: float
    eta: float

    def init(self) -> Tree:
        return sprout(self.levels, self.region.size)

    def ask(self, state: Tree, key: Key) -> Offer:
        direction = on_sphere(key, self.region.size)
        leader = self.region.project(-self.eta * released(state), 1 - self.rho / self.region.inner)
        return Offer(self.region.place(leader + self.rho * direction), Memo(direction, sealed(key)))

    def tell(self, state: Tree, memo: Memo, estimate: jax.Array) -> Tree:
        size, key = self.region.size, unsealed(memo.seal)
        gradient = size / self.rho * (loss_of(estimate) - 0.5) * memo.direction
        noise = self.scale * (radial(key, size) if self.pure else normals(key, (size,)))
        return add(state, gradient, noise)


def build(task: Task) -> TreeBco:
    region = region_of(task.region, task.dimension)
    n, m, diameter = region.size, levels_for(task.rounds), 2 * float(region.outer)
    rho = min(diameter * math.sqrt(n / 6) * task.rounds**-0.25, float(region.inner) / 2)
    pure = task.delta == 0
    if pure:
        scale = radial_scale(n / rho, m, task.epsilon)
        noise = scale * math.sqrt(m * n * (n + 1))
    else:
        scale = normal_scale(n / rho, m, task.epsilon, task.delta)
        noise = scale * math.sqrt(m * n)
    eta = diameter / math.sqrt(task.rounds * (n**2 / (4 * rho**2) + 2 * noise / diameter))
    return TreeBco(region=region, levels=m, pure=pure, scale=scale, rho=rho, eta=eta)
