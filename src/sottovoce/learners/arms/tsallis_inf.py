"""Tsallis-INF: nearly optimal against an adversary and in a stochastic world, without knowing which one it is in.

Zimmert and Seldin, "Tsallis-INF: an optimal algorithm for stochastic and adversarial bandits", JMLR 2021, with
alpha = 1/2; the black box of the paper's private multi-armed bandit (appendix B.1).

    w_t = argmin_w <w, L> - (4/eta) sum sqrt(w_i),  so  w_i = 4 / (eta (L_i - x))^2 with x such that sum w = 1

    L -> state.losses    x -> state.normaliser    w_t -> state.weights

Departures from the paper, and why:
- The law of the noise is known and used. Estimates lie within `reach` M of 1/2 (exactly for randomised response; for
  Gaussian and Laplace noise they are clipped at the largest noise expected in the horizon) and have second moment v
  around 1/2. The importance-weighted estimator ("iw") is the published one on (Y - 1/2 + M)/(2M) in [0, 1]. The
  reduced-variance one ("rv") uses eta_t = 2/sqrt(v t): on noise-free losses v = 1/4, M = 1/2, which is the published
  eta_t = 4/sqrt(t) with baseline 1/2 where w_i >= eta_t^2. Both are the published algorithm exactly at zero noise.
- The paper runs the black box on losses with sub-Gaussian noise; the theorems of Zimmert and Seldin need losses in
  [0, 1], hence the clip.
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
    normaliser: jax.Array
    weights: jax.Array
    round: jax.Array


class Memo(NamedTuple):
    arm: jax.Array
    weight: jax.Array
    baseline: jax.Array


@configuration("arms", "estimator")
class TsallisInf:
    """Plays an arm by the weights of the Tsallis regulariser."""

    arms: int
    estimator: str
    second_moment: float
    reach: float
    clip: float
    """Where estimates are cut: at the reach of unbounded noise; nowhere else, as quieter reports reach further."""

    def init(self) -> State:
        even = jnp.full(self.arms, 1.0 / self.arms)
        start = -2 * math.sqrt(self.arms) / self._rate(jnp.asarray(1.0))
        return State(jnp.zeros(self.arms), start, even, jnp.asarray(1.0))

    def ask(self, state: State, key: Key) -> Offer:
        arm = categorical(key, state.weights)
        return Offer(arm, Memo(arm, pick(state.weights, arm), self._baseline(state)), arm)

    def tell(self, state: State, memo: Memo, estimate: jax.Array) -> State:
        loss = jnp.clip(loss_of(estimate), 0.5 - self.clip, 0.5 + self.clip)
        weighted = (loss - pick(memo.baseline, memo.arm)) / memo.weight
        played = jnp.arange(self.arms) == memo.arm
        losses = state.losses + memo.baseline + jnp.where(played, weighted, 0.0)
        following = state.round + 1
        weights, normaliser = tsallis_weights(losses, self._rate(following), state.normaliser)
        return State(losses, normaliser, weights, following)

    def _rate(self, time: jax.Array) -> jax.Array:
        if self.estimator == "rv":
            return 2 / jnp.sqrt(self.second_moment * time)
        return 1 / (self.reach * jnp.sqrt(time))

    def _baseline(self, state: State) -> jax.Array:
        """What is subtracted before and added back after weighting: 1/2, or the least loss where weights are small."""
        least = 0.5 - self.reach
        if self.estimator == "rv":
            return jnp.where(state.weights >= (2 * self.reach * self._rate(state.round)) ** 2, 0.5, least)
        return jnp.full(self.arms, least)


def tsallis_weights(losses: jax.Array, rate: jax.Array, guess: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The weights and their normaliser, by Newton's method from a guess.

    With n_i = 1/(L_i - x) and S_k = sum n_i^k, the function g(x) = (sum w)^(-1/2) = (rate/2) S_2^(-1/2) is concave and
    decreasing. With d = 1 - 1/g, a step of Newton's method from x is S_2 d / S_3, and one of Halley's is
    S_2 S_3 d / (S_3^2 + 3/2 d (S_2 S_4 - S_3^2)). Halley's is taken, at most twice as long as Newton's; the root is
    left of min L - 2/rate, so no step goes past that. From the last round's x two steps leave |sum w - 1| below 1e-7 in
    nearly all rounds (three of Newton's leave more in the hardest ones); the weights are then normalised.
    """
    right = jnp.min(losses) - 2 / rate
    x = jnp.minimum(guess, right)
    for _ in range(2):
        nearness = 1 / (losses - x)
        squared = nearness * nearness
        squares, cubes, fourths = jnp.sum(squared), jnp.sum(squared * nearness), jnp.sum(squared * squared)
        short = 1 - 2 / rate * jnp.sqrt(squares)
        newton = cubes * cubes
        halley = newton + 1.5 * short * (squares * fourths - newton)
        x = jnp.minimum(x + squares * cubes * short / jnp.maximum(halley, newton / 2), right)
    nearness = 1 / (losses - x)
    weights = nearness * nearness
    return weights * (1 / jnp.sum(weights)), x


def build(task: Task, noise: Noise) -> TsallisInf:
    reach = reach_of(noise, task.rounds)
    return TsallisInf(
        arms=task.arms,
        estimator=str(task.tuning["estimator"]),
        second_moment=min(noise.bound**2, 0.25 + noise.variance),
        reach=reach,
        clip=math.inf if math.isfinite(noise.bound) else reach,
    )
