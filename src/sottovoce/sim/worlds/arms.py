"""Worlds of a few arms with rewards 0 and 1."""

import dataclasses
import math
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from sottovoce.learners.base import Key, configuration, pick
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.worlds.base import Drawn
from sottovoce.sim.worlds.motion import moved


class _Bernoulli:
    """The context is the mean reward of each arm; a reward is 0 or 1."""

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        mean = pick(context, action)
        return (jax.random.uniform(key, dtype=mean.dtype) >= 1 - mean).astype(mean.dtype)


@configuration("arms")
class Arms(_Bernoulli):
    """Bernoulli arms: one is better than the worst by `gap`, or `rewards` of your own; in another order each seed.

    `reward` is that of the worst arm. The gap to the best one rises like (i / (arms - 1))^alpha from the second arm to
    the worst. With 0 all but the best are alike; 0.3 and 0.6 are the instances of Jamieson and Nowak,
    "Best-arm identification algorithms for multi-armed bandits in the fixed confidence setting", CISS 2014.
    """

    arms: int
    gap: float = 0.2
    reward: float = 0.5
    alpha: float = 0.0
    rewards: Any = None

    def __post_init__(self) -> None:
        if self.rewards is not None and np.shape(self.rewards) != (self.arms,):
            got = len(self.rewards) if np.shape(self.rewards) else repr(self.rewards)
            raise ConfigurationError(f"rewards must have one number per arm: {self.arms}, got {got}")

    def sample(self, key: Key) -> "Arms":
        if self.rewards is None:
            place = (jnp.arange(self.arms) - jax.random.randint(key, (), 0, self.arms)) % self.arms
            behind = jnp.where(place == 0, 0.0, (place / (self.arms - 1)) ** self.alpha)
            rewards = self.reward + self.gap * (1 - behind)
        else:
            rewards = jax.random.permutation(key, jnp.asarray(self.rewards))
        return dataclasses.replace(cast(Any, self), rewards=rewards)

    @property
    def gaps(self) -> jax.Array:
        return jnp.max(self.rewards) - self.rewards

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        return self.rewards

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        return jnp.max(context) - pick(context, action)


@configuration("arms")
class SwitchingArms(_Bernoulli):
    """The stochastically constrained adversary of Zimmert and Seldin: the best arm stays best by `gap` in every round.

    All rewards together jump between nearly 0 and nearly 1, in phases that grow by `factor`. Learners that average
    an arm's rewards over time are misled: an arm looks bad because it was played in a bad phase.
    """

    arms: int
    gap: float = 0.2
    factor: float = 1.6
    best: Drawn = 0

    def sample(self, key: Key) -> "SwitchingArms":
        return dataclasses.replace(cast(Any, self), best=jax.random.randint(key, (), 0, self.arms))

    @property
    def gaps(self) -> jax.Array:
        return jnp.where(jnp.arange(self.arms) == self.best, 0.0, self.gap)

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        phase = jnp.floor(jnp.log1p(round * (self.factor - 1)) / jnp.log(self.factor))
        base = jnp.where(phase % 2 == 0, 1.0 - self.gap, 0.0)
        return jnp.where(jnp.arange(self.arms) == self.best, base + self.gap, base)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        """Against every fixed arm; the simulator keeps the best in hindsight."""
        return context - pick(context, action)


def narrow_arms(*, arms: int, horizon: float = 10_000.0, epsilon: float = 1.0, strength: float = 4.0) -> SwitchingArms:
    """`SwitchingArms` with the gap that costs most: strength * sqrt(arms / horizon) * (e^epsilon + 1)/(e^epsilon - 1).

    Where the gap is wider it is soon found, where it is narrower missing it costs little; in between the regret grows
    like sqrt(rounds). The last factor is by how much a one-bit report of this epsilon stretches a reward.

    >>> round(narrow_arms(arms=4, horizon=40_000, epsilon=2.0, strength=4.0).gap, 4)
    0.0525
    """
    stretch = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
    gap = strength * math.sqrt(arms / horizon) * stretch
    if not 0 < gap <= 1:
        raise ConfigurationError(f"the gap must be above 0 and at most 1, got {gap:g}: take a longer horizon")
    return SwitchingArms(arms=arms, gap=gap)


@configuration("arms", "motion")
class ChangingArms(_Bernoulli):
    """Another arm becomes the best one, and back again, once in `period` rounds; `motion` as in `worlds.motion`.

    One arm is better by `gap`; all others have the reward `reward`. With `stays` = 1 the best arm stays as good as it
    was, and the other one rises above it by a gap of its own: whoever plays the best arm only will not see that.
    """

    arms: int
    motion: str = "switching"
    period: float = 2000.0
    gap: float = 0.2
    reward: float = 0.5
    stays: float = 0.0
    best: Drawn = 0
    following: Drawn = 1

    def sample(self, key: Key) -> "ChangingArms":
        first, second = jax.random.split(key)
        best = jax.random.randint(first, (), 0, self.arms)
        following = (best + jax.random.randint(second, (), 1, self.arms)) % self.arms
        return dataclasses.replace(cast(Any, self), best=best, following=following)

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        arm, share = jnp.arange(self.arms), moved(self.motion, round, self.period)
        old = jnp.where(arm == self.best, 1 - share * (1 - self.stays), 0.0)
        new = jnp.where(arm == self.following, share * (1 + self.stays), 0.0)
        return self.reward + self.gap * (old + new)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        """Against the best arm of the round."""
        return jnp.max(context) - pick(context, action)
