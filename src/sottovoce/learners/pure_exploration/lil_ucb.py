"""lil'UCB: find the best arm with few samples, at a given confidence; what a sample costs follows the noise.

Jamieson, Malloy, Nowak and Bubeck, "lil'UCB: an optimal exploration algorithm for multi-armed bandits", COLT 2014; the
black box of the paper's private best-arm identification (appendix B.2). Pull the arm with the largest

    mean + (1 + beta)(1 + sqrt e) sqrt( 2 s^2 (1 + e) ln( ln((1 + e) N) / delta ) / N )

until one arm has been pulled 1 + lambda times as often as all others together. s^2 -> proxy, N -> pulls.

- "theory", of Theorem 2 there: e = 0.01, beta = 1, delta = (sqrt(1 + nu) - 1)^2 / (4 c_e) with
  c_e = (2+e)/e (1/ln(1+e))^(1+e), lambda = 9 (1 + ln(2 ln(9 K/delta))/ln(K/delta)) where 9 = ((2 + beta)/beta)^2.
- "heuristic": e = 0, beta = 1/2, lambda = 1 + 10/K, delta = nu/5, which the authors recommend, and two changes: + 2 in
  the inner logarithm keeps the double one positive from the first pull on; and it stops like LUCB, too, when the best
  arm's lower bound passes every other upper bound, at nu/K each. Neither the stop nor the constants are proved.

s^2 is what the noise is known to be (the paper's 1/4 + sigma^2 for Gaussian noise, the squared reach of randomised
response).
"""

import math

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, check_sub_gaussian, configuration
from sottovoce.learners.tally import Averaging, Tally, largest
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import UnknownName


@configuration("arms", "heuristic")
class LilUcb(Averaging):
    """Pulls the arm with the largest upper bound, until one arm stands out."""

    proxy: float
    failure: float
    """nu: the probability of a wrong answer."""
    slack: float
    """e"""
    boost: float
    """beta"""
    ratio: float
    """lambda"""
    delta: float
    heuristic: bool

    def ask(self, state: Tally, key: Key) -> Offer:
        index = state.means + (1 + self.boost) * self._radius(state.pulls, self.delta)
        return largest(state, index)

    def done(self, state: Tally) -> jax.Array:
        stands_out = jnp.any(self._dominates(state))
        if self.heuristic:
            stands_out |= self._separated(state)
        return jnp.all(state.pulls > 0) & stands_out

    def recommend(self, state: Tally) -> jax.Array:
        """The arm pulled most when one dominates; otherwise the best so far."""
        dominates, best = self._dominates(state), jnp.argmax(jnp.where(state.pulls > 0, state.means, -jnp.inf))
        return jnp.where(jnp.any(dominates), jnp.argmax(dominates), best)

    def _dominates(self, state: Tally) -> jax.Array:
        return state.pulls >= 1 + self.ratio * (jnp.sum(state.pulls) - state.pulls)

    def _separated(self, state: Tally) -> jax.Array:
        means, radius = state.means, self._radius(state.pulls, self.failure / self.arms)
        leader = jnp.argmax(means)
        others = jnp.where(jnp.arange(self.arms) == leader, -jnp.inf, means + radius)
        return means[leader] - radius[leader] >= jnp.max(others)

    def _radius(self, pulls: jax.Array, delta: jax.Array | float) -> jax.Array:
        pulls = jnp.maximum(pulls, 1.0)
        grown = 1 + self.slack
        doubly = jnp.log(jnp.log(grown * pulls + 2 * self.heuristic) / delta)
        return (1 + jnp.sqrt(self.slack)) * jnp.sqrt(2 * self.proxy * grown * doubly / pulls)


def build(task: Task, noise: Noise) -> LilUcb:
    check_sub_gaussian(task.learner, noise)
    failure, rule = float(task.tuning["failure"]), str(task.tuning["rule"])
    if rule == "theory":
        slack, boost, delta = 0.01, 1.0, theory_delta(failure)
        ratio = theory_ratio(task.arms, delta)
    elif rule == "heuristic":
        slack, boost, ratio, delta = 0.0, 0.5, 1 + 10 / task.arms, failure / 5
    else:
        raise UnknownName("rule of lil-ucb", rule, ["theory", "heuristic"])
    return LilUcb(
        arms=task.arms,
        proxy=noise.proxy,
        failure=failure,
        slack=slack,
        boost=boost,
        ratio=ratio,
        delta=delta,
        heuristic=rule == "heuristic",
    )


def theory_delta(failure: float, slack: float = 0.01) -> float:
    """The delta for which the theorem's failure probability is `failure`.

    >>> f"{theory_delta(0.1):.4e}"
    '2.8155e-08'
    """
    constant = (2 + slack) / slack * (1 / math.log(1 + slack)) ** (1 + slack)
    return (math.sqrt(1 + failure) - 1) ** 2 / (4 * constant)


def theory_ratio(arms: int, delta: float, boost: float = 1.0) -> float:
    """The lambda of the theorem: below it the first arm to stand out need not be the best.

    >>> round(theory_ratio(5, theory_delta(0.05)), 3)
    10.684
    """
    square = ((2 + boost) / boost) ** 2
    return square * (1 + math.log(2 * math.log(square * arms / delta)) / math.log(arms / delta))
