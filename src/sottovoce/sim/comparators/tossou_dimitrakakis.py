"""EXP3 run by a curator with differential privacy: Laplace noise on every loss. The curator is told raw losses.

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
from sottovoce.learners.arms.exp3 import State, charged
from sottovoce.learners.base import Key, Offer, categorical, configuration, loss_of, pick
from sottovoce.sim.random import sealed, unsealed


class Memo(NamedTuple):
    arm: jax.Array
    weight: jax.Array
    seal: jax.Array


@configuration("arms", "rule")
class PrivateExp3:
    """Exponential weights on losses with Laplace noise."""

    arms: int
    rule: str
    epsilon: float
    bound: float
    gamma: float

    def init(self) -> State:
        return State(jnp.zeros(self.arms), jnp.asarray(1.0))

    def ask(self, state: State, key: Key) -> Offer:
        if self.rule == "practical":
            weights = jax.nn.softmax(-self._rate(state.round) * state.losses)
        else:
            weights = jax.nn.softmax(-self.gamma / self.arms * state.losses)
            weights = (1 - self.gamma) * weights + self.gamma / self.arms
        arm = categorical(key, weights)
        return Offer(arm, Memo(arm, pick(weights, arm), sealed(key)), arm)

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        """The noise is for a sensitivity of 1, that of a loss."""
        loss = loss_of(estimate) + jax.random.laplace(unsealed(memo.seal), dtype=estimate.dtype) / self.epsilon
        if self.rule == "practical":
            return charged(state, memo.arm, jnp.maximum(loss / memo.weight, -1 / self._rate(state.round)))
        gain = 1 - loss
        inside = (gain >= -self.bound) & (gain <= 1 + self.bound)
        gain = jnp.where(inside, (gain + self.bound) / (1 + 2 * self.bound), 0.0)
        return charged(state, memo.arm, -gain / memo.weight)

    def _rate(self, round: jax.Array) -> jax.Array:
        return jnp.sqrt(math.log(self.arms) / (self.arms * round * (1 + 2 / self.epsilon**2)))


def build(task: Task) -> PrivateExp3:
    arms, epsilon, rule = task.arms, task.epsilon, str(task.tuning["rule"])
    gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1) * task.rounds)))
    return PrivateExp3(arms=arms, rule=rule, epsilon=epsilon, bound=math.log(task.rounds) / epsilon, gamma=gamma)
