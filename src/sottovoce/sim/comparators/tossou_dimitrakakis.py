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
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, categorical, configuration, pick
from sottovoce.learners.losses import loss_of
from sottovoce.sim.random import sealed, unsealed
from sottovoce.sim.users import user_of
from sottovoce.users import LocalUser


class State(NamedTuple):
    losses: jax.Array
    round: jax.Array


class Memo(NamedTuple):
    arm: jax.Array
    weight: jax.Array
    seal: jax.Array


@configuration("arms")
class PublishedPrivateExp3:
    """The published wrapper around the published EXP3."""

    arms: int
    epsilon: float
    bound: float
    gamma: float

    def init(self) -> State:
        return State(jnp.zeros(self.arms), jnp.asarray(1.0))

    def ask(self, state: State, key: Key) -> Offer:
        weights = jax.nn.softmax(-self.gamma / self.arms * state.losses)
        return _offer((1 - self.gamma) * weights + self.gamma / self.arms, key)

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        gain = 1 - noisy(loss_of(estimate), memo, self.epsilon)
        inside = (gain >= -self.bound) & (gain <= 1 + self.bound)
        gain = jnp.where(inside, (gain + self.bound) / (1 + 2 * self.bound), 0.0)
        return _charged(state, memo, -gain / memo.weight)


@configuration("arms")
class PracticalPrivateExp3:
    """The same noise with a rate that follows its variance."""

    arms: int
    epsilon: float

    def init(self) -> State:
        return State(jnp.zeros(self.arms), jnp.asarray(1.0))

    def ask(self, state: State, key: Key) -> Offer:
        return _offer(jax.nn.softmax(-self._rate(state.round) * state.losses), key)

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        loss = noisy(loss_of(estimate), memo, self.epsilon) / memo.weight
        return _charged(state, memo, jnp.maximum(loss, -1 / self._rate(state.round)))

    def _rate(self, round: jax.Array) -> jax.Array:
        return jnp.sqrt(math.log(self.arms) / (self.arms * round * (1 + 2 / self.epsilon**2)))


def noisy(loss: jax.Array, memo: Memo, epsilon: float) -> jax.Array:
    """The loss with Laplace noise for a sensitivity of 1."""
    return loss + jax.random.laplace(unsealed(memo.seal), dtype=loss.dtype) / epsilon


def _offer(weights: jax.Array, key: Key) -> Offer:
    arm = categorical(key, weights)
    return Offer(arm, Memo(arm, pick(weights, arm), sealed(key)), arm)


def _charged(state: State, memo: Memo, loss: jax.Array) -> State:
    played = jnp.arange(len(state.losses)) == memo.arm
    return State(state.losses + jnp.where(played, loss, 0.0), state.round + 1)


def build(task: Task) -> tuple[PublishedPrivateExp3 | PracticalPrivateExp3, LocalUser]:
    """The learner of this task, and its user."""
    if task.tuning["rule"] == "practical":
        return PracticalPrivateExp3(arms=task.arms, epsilon=task.epsilon), user_of(task)
    gamma = min(1.0, math.sqrt(task.arms * math.log(task.arms) / ((math.e - 1) * task.rounds)))
    bound = math.log(task.rounds) / task.epsilon
    return PublishedPrivateExp3(arms=task.arms, epsilon=task.epsilon, bound=bound, gamma=gamma), user_of(task)
