"""EXP3 run by a curator with differential privacy: Laplace noise on every loss. The curator hears losses raw.

Tossou and Dimitrakakis, "Achieving privacy in the adversarial multi-armed bandit" (AAAI 2017), DP-EXP3-Lap:

    N_t ~ Laplace(1/epsilon)    b = ln(T)/epsilon -> bound    noisy value in [-b, 1 + b], mapped to [0, 1], else ignored

*Promise.* epsilon-DP of the sequence of arms, for neighbours that differ in one person's losses (one round). *Proof.* A
loss lies in [0, 1] (it is clipped), so it moves by at most 1; the noisy loss is epsilon-DP, each person's is used once,
and the arms are a function of noisy losses: post-processing. The curator is not needed: were the noise drawn on the
device, the same algorithm would be local, and the paper of Zheng et al. says so.

Rule "published" wraps EXP3 of Auer et al. (2002): gains 1 - loss, gamma = min(1, sqrt(K ln K/((e - 1) T))) of uniform
play. Rule "practical" drops the interval, whose width slows learning by 1 + 2b: the noisy loss is used as it is, with
the rate eta_t = sqrt(ln K/(K t (1 + 2/epsilon^2))) for its second moment, and no mixing. An importance-weighted loss
below -1/eta_t is cut there, which the second-order bound for exponential weights asks for. All of that is
post-processing.

The constants of "published" are recalled and not yet checked against the printed paper; privacy does not rest on them.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.arms.exp3 import State, charged
from sottovoce.learners.base import Key, Offer, categorical, configuration, loss_of, pick
from sottovoce.sim.random import sealed, unsealed


class Memo(NamedTuple):
    arm: jax.Array
    weight: jax.Array
    seal: jax.Array


@dataclass(frozen=True, kw_only=True)
class _PrivateExp3:
    arms: int
    epsilon: float

    def init(self) -> State:
        return State(jnp.zeros(self.arms), jnp.asarray(1.0))

    def _noisy(self, estimate: jax.Array, memo: Memo) -> jax.Array:
        """The loss with Laplace noise for a sensitivity of 1."""
        return loss_of(estimate) + jax.random.laplace(unsealed(memo.seal), dtype=estimate.dtype) / self.epsilon


@configuration("arms")
class PublishedPrivateExp3(_PrivateExp3):
    """The published wrapper around the published EXP3."""

    bound: float
    gamma: float

    def ask(self, state: State, key: Key) -> Offer:
        weights = jax.nn.softmax(-self.gamma / self.arms * state.losses)
        return _offer((1 - self.gamma) * weights + self.gamma / self.arms, key)

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        gain = 1 - self._noisy(estimate, memo)
        inside = (gain >= -self.bound) & (gain <= 1 + self.bound)
        gain = jnp.where(inside, (gain + self.bound) / (1 + 2 * self.bound), 0.0)
        return charged(state, memo.arm, -gain / memo.weight)


@configuration("arms")
class PracticalPrivateExp3(_PrivateExp3):
    """The same noise with a rate that follows its variance."""

    def ask(self, state: State, key: Key) -> Offer:
        return _offer(jax.nn.softmax(-self._rate(state.round) * state.losses), key)

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        loss = self._noisy(estimate, memo) / memo.weight
        return charged(state, memo.arm, jnp.maximum(loss, -1 / self._rate(state.round)))

    def _rate(self, round: jax.Array) -> jax.Array:
        return jnp.sqrt(math.log(self.arms) / (self.arms * round * (1 + 2 / self.epsilon**2)))


def _offer(weights: jax.Array, key: Key) -> Offer:
    arm = categorical(key, weights)
    return Offer(arm, Memo(arm, pick(weights, arm), sealed(key)), arm)


def build(task: Task) -> PublishedPrivateExp3 | PracticalPrivateExp3:
    if task.tuning["rule"] == "practical":
        return PracticalPrivateExp3(arms=task.arms, epsilon=task.epsilon)
    gamma = min(1.0, math.sqrt(task.arms * math.log(task.arms) / ((math.e - 1) * task.rounds)))
    bound = math.log(task.rounds) / task.epsilon
    return PublishedPrivateExp3(arms=task.arms, epsilon=task.epsilon, bound=bound, gamma=gamma)
