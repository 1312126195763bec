"""Successive elimination run by a curator with differential privacy. The curator is told raw losses.

Sajed and Sheffet, "An optimal private stochastic-MAB algorithm based on an optimal private stopping rule" (ICML 2019),
DP-SE. In epochs every arm that is left is played equally often; then one noisy mean per arm is published, and arms
that are surely worse than the best are dropped.

    S -> state.active    e -> state.epoch    R_e -> pulls per arm in an epoch    beta = 1/T

*Promise.* epsilon-DP of the sequence of arms, for neighbours that differ in one person's losses (one round). *Proof.* A
loss lies in [0, 1] (it is clipped). It enters one sum, of one arm in one epoch, and moves it by at most 1; each sum is
published once, with Laplace(1/epsilon) noise, so all sums together are epsilon-DP (parallel composition), and the arms
are a function of noisy sums.

Rule "published", with Delta_e = 2^-e, h = ln(8 |S| e^2/beta), c = ln(4 |S| e^2/beta): R_e = 1 + max(32 h/Delta_e^2,
8 c/(epsilon Delta_e)); what earlier epochs showed is forgotten; an arm is dropped if its noisy mean is worse than the
best one by more than 2 sqrt(h/(2 R_e)) + 2 c/(epsilon R_e).

Rule "practical": R_e = first * 2^(e-1), so an arm is dropped within a factor of two of the earliest time; the noisy
sums of earlier epochs are kept, which is post-processing and doubles the data; and the widths are for the difference of
two arms, not twice that of one. After N pulls in e epochs the difference of two means is sub-Gaussian with variance
1/(2 N), and the noise in it is a sum of k = 2 e Laplace variables, whose log-moment-generating function at s epsilon
is at most 1.4 k s^2 for s^2 <= 1/2. With L = ln(2 |S| e (e + 1)/beta) each exceeds

    sqrt(L/N)    and    min over s of (L/s + 1.4 k s)/(epsilon N)

with probability exp(-L): over all epochs and arms the best one is dropped with probability beta at most.

The constants of "published" are recalled and not yet checked against the printed paper; privacy does not rest on them.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, choose, configuration, loss_of
from sottovoce.sim.random import sealed, unsealed


class State(NamedTuple):
    active: jax.Array
    epoch: jax.Array
    sums: jax.Array
    """Losses of this epoch: the curator's secret."""
    pulls: jax.Array
    noisy_sums: jax.Array
    """Published at the ends of the epochs before."""
    noisy_pulls: jax.Array


class Memo(NamedTuple):
    arm: jax.Array
    seal: jax.Array


@configuration("arms", "rule")
class Elimination:
    """Plays the arms that are left equally often, and drops the worse ones at the end of an epoch."""

    arms: int
    rule: str
    epsilon: float
    failure: float
    """beta"""
    first: float
    """R_1 of the practical rule."""

    def init(self) -> State:
        zeros = jnp.zeros(self.arms)
        return State(jnp.ones(self.arms, bool), jnp.asarray(1.0), zeros, zeros, zeros, zeros)

    def ask(self, state: State, key: Key) -> Offer:
        arm = jnp.argmin(jnp.where(state.active, state.pulls, jnp.inf))
        return Offer(arm, Memo(arm, sealed(key)), arm)

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        played = jnp.arange(self.arms) == memo.arm
        told = state._replace(sums=state.sums + played * loss_of(estimate), pulls=state.pulls + played)
        noise = jax.random.laplace(unsealed(memo.seal), (self.arms,), dtype=estimate.dtype) / self.epsilon
        over = jnp.min(jnp.where(state.active, told.pulls, jnp.inf)) >= self._length(state)
        return choose(over, self._published(told, noise), told)

    def _published(self, state: State, noise: jax.Array) -> State:
        """The end of an epoch: the only place where the curator's sums go out."""
        sums, pulls = state.sums + noise, state.pulls
        if self.rule == "practical":
            sums, pulls = state.noisy_sums + sums, state.noisy_pulls + pulls
        means = jnp.where(state.active, sums / jnp.maximum(pulls, 1), jnp.inf)
        worse = means - jnp.min(means) > self._width(state, jnp.min(jnp.where(state.active, pulls, jnp.inf)))
        zeros = jnp.zeros(self.arms)
        return State(state.active & ~worse, state.epoch + 1, zeros, zeros, sums, pulls)

    def _length(self, state: State) -> jax.Array:
        """R_e"""
        if self.rule == "practical":
            return self.first * 2 ** (state.epoch - 1)
        h, c = self._logs(state)
        gap = 0.5**state.epoch
        return jnp.floor(jnp.maximum(32 * h / gap**2, 8 * c / (self.epsilon * gap))) + 1

    def _width(self, state: State, pulls: jax.Array) -> jax.Array:
        """An arm is dropped if its mean is worse than the best one by more than this."""
        if self.rule == "published":
            h, c = self._logs(state)
            return 2 * jnp.sqrt(h / (2 * pulls)) + 2 * c / (self.epsilon * pulls)
        likely = jnp.log(2 * jnp.sum(state.active) * state.epoch * (state.epoch + 1) / self.failure)
        terms = 2 * state.epoch
        s = jnp.minimum(jnp.sqrt(likely / (1.4 * terms)), jnp.sqrt(0.5))
        return jnp.sqrt(likely / pulls) + (likely / s + 1.4 * terms * s) / (self.epsilon * pulls)

    def _logs(self, state: State) -> tuple[jax.Array, jax.Array]:
        """H and c of the published rule."""
        events = jnp.sum(state.active) * state.epoch**2 / self.failure
        return jnp.log(8 * events), jnp.log(4 * events)


def build(task: Task) -> Elimination:
    numbers = {"arms": task.arms, "epsilon": task.epsilon, "failure": 1 / task.rounds}
    return Elimination(**numbers, rule=str(task.tuning["rule"]), first=float(task.tuning.get("first", 0.0)))
