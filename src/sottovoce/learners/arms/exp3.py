"""EXP3: exponential weights on importance-weighted losses, for adversarial arms.

Auer, Cesa-Bianchi, Freund and Schapire, "The nonstochastic multiarmed bandit problem", SIAM J. Computing 2002, in the
anytime form for losses of Bubeck and Cesa-Bianchi, "Regret analysis of stochastic and nonstochastic multi-armed bandit
problems" (2012), theorem 3.1; a black box of the paper's Algorithm 1.

    w_t ~ exp(-eta_t L),  eta_t = sqrt(ln K / (K t)),  L += loss / w_t on the arm played        L -> state.losses

The estimate is mapped to [0, 1] from the range it can have (`reach` around 1/2; unbounded noise is clipped at the
largest expected in the horizon), so the published algorithm runs on a bounded loss whose gaps are smaller by 2 * reach.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, categorical, configuration, loss_of, pick, reach_of
from sottovoce.privacy.noise import Noise


class State(NamedTuple):
    losses: jax.Array
    round: jax.Array


class Memo(NamedTuple):
    arm: jax.Array
    weight: jax.Array


@configuration("arms", "bounded")
class Exp3:
    """Plays an arm by exponential weights."""

    arms: int
    bounded: bool
    reach: float

    def init(self) -> State:
        return State(jnp.zeros(self.arms), jnp.asarray(1.0))

    def ask(self, state: State, key: Key) -> Offer:
        rate = jnp.sqrt(math.log(self.arms) / (self.arms * state.round))
        weights = jax.nn.softmax(-rate * state.losses)
        arm = categorical(key, weights)
        return Offer(arm, Memo(arm, pick(weights, arm)), arm)

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        loss = (loss_of(estimate) - 0.5) / (2 * self.reach) + 0.5
        loss = loss if self.bounded else jnp.clip(loss, 0.0, 1.0)
        return charged(state, memo.arm, loss / memo.weight)


def charged(state: State, arm: jax.Array, loss: jax.Array) -> State:
    """One round later, with this loss of the arm played."""
    played = jnp.arange(len(state.losses)) == arm
    return State(state.losses + jnp.where(played, loss, 0.0), state.round + 1)


def build(task: Task, noise: Noise) -> Exp3:
    return Exp3(arms=task.arms, bounded=math.isfinite(noise.bound), reach=reach_of(noise, task.rounds))
