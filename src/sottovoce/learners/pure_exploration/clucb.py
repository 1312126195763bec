"""CLUCB: find the best set of arms, at a given confidence; the best `choose` arms of each of `groups` blocks.

Chen, Lin, King, Lyu and Chen, "Combinatorial pure exploration of multi-armed bandits", NeurIPS 2014, algorithm 1. One
group is the problem of the best m arms; several are a partition matroid: the arms are split into consecutive blocks of
one size, and from each block so many are chosen. In every round,

    M = the best set by the means, and w = mean - radius inside M, mean + radius outside of it;
    M' = the best set by w; stop with M if M' = M, else pull the arm of largest radius in M or M' but not both.

Whatever the structure, the answer is right whenever all means stay within their radii. Two choices of radius do this
with probability 1 - nu (s^2 -> proxy, N -> pulls, t -> all pulls, n -> arms):

- "theory", of the paper: sqrt(2 s^2 ln(4 n t^3 / nu) / N).
- "stitched", of Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence
  sequences", Annals of Statistics 2021, equation 1.2, nu/n for each arm:
  1.7 s sqrt((ln ln(2 N) + 0.72 ln(10.4 n / nu)) / N). Much narrower: it knows the law of the iterated logarithm.

s^2 is what the noise is known to be, as for lil'UCB. Sets that are equally good cannot
be told apart: with ties at the edge of the best set it never stops. Departure: the paper stops when w(M') = w(M). Sums
of floating-point numbers may differ by their rounding alone, and a learner that compares them may never stop; so the
sets are compared. Where two sets have exactly the same weight, that takes more pulls, and is as safe.
"""

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, check_sub_gaussian, configuration
from sottovoce.learners.tally import Averaging, Tally, largest, ranks
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import ConfigurationError, UnknownName

RULES = ("theory", "stitched")


@configuration("arms", "groups", "choose", "rule")
class Clucb(Averaging):
    """Pulls the arm about which the best set and its rival differ most."""

    groups: int
    choose: int
    rule: str
    proxy: float
    failure: float
    """nu: the probability of a wrong answer."""

    def ask(self, state: Tally, key: Key) -> Offer:
        disputed, radius = self._disputed(state), self._radius(state.pulls)
        asked = disputed | ~jnp.any(disputed)  # all is clear, but somebody still asks: the least known arm
        index = jnp.where(asked, radius, -jnp.inf)
        return largest(state, index)

    def done(self, state: Tally) -> jax.Array:
        return jnp.all(state.pulls > 0) & ~jnp.any(self._disputed(state))

    def recommend(self, state: Tally) -> jax.Array:
        """A mask of the arms."""
        return self.best_set(state.means)

    def best_set(self, rewards: jax.Array) -> jax.Array:
        """The mask of the set with the largest sum: the best arms of each block."""
        blocks = jnp.reshape(-rewards, (self.groups, -1))
        return jnp.reshape(ranks(blocks) < self.choose, (self.arms,))

    def _disputed(self, state: Tally) -> jax.Array:
        """The arms in the best set by the means or in its optimistic rival, but not in both."""
        means, radius = state.means, self._radius(state.pulls)
        best = self.best_set(means)
        return best ^ self.best_set(jnp.where(best, means - radius, means + radius))

    def _radius(self, pulls: jax.Array) -> jax.Array:
        time, pulls = jnp.maximum(jnp.sum(pulls), 1.0), jnp.maximum(pulls, 1.0)
        if self.rule == "theory":
            return jnp.sqrt(2 * self.proxy * (jnp.log(4 * self.arms / self.failure) + 3 * jnp.log(time)) / pulls)
        confident = 0.72 * jnp.log(10.4 * self.arms / self.failure)
        return 1.7 * jnp.sqrt(self.proxy * (jnp.log(jnp.log(2 * pulls)) + confident) / pulls)


def build(task: Task, noise: Noise) -> Clucb:
    check_sub_gaussian(task.learner, noise)
    groups, choose, rule = int(task.tuning["groups"]), int(task.tuning["choose"]), str(task.tuning["rule"])
    if groups < 1 or task.arms % groups:
        raise ConfigurationError(f"groups must split {task.arms} arms into equal blocks, got {groups}")
    if not 1 <= choose < task.arms // groups:
        raise ConfigurationError(f"choose must be 1 to {task.arms // groups - 1} of each block, got {choose}")
    if rule not in RULES:
        raise UnknownName("rule of clucb", rule, RULES)
    failure = float(task.tuning["failure"])
    return Clucb(arms=task.arms, groups=groups, choose=choose, rule=rule, proxy=noise.proxy, failure=failure)
