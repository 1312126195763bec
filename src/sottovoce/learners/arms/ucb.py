"""UCB for sub-Gaussian noise: the arm with the largest mean reward plus deviation, for stochastic arms.

The (alpha, psi)-UCB of Bubeck and Cesa-Bianchi, "Regret analysis of stochastic and nonstochastic multi-armed bandit
problems" (2012), section 2.2, with psi of a sub-Gaussian variable; a black box of the paper's Algorithm 1. The index is

    mean + sqrt(2 alpha proxy ln t / N)        alpha -> exploration (above 2 in theory, 1 in practice)

where `proxy` is the variance proxy of an estimate, the reward's own spread included: 1/4 + sigma^2 for Gaussian noise
as in the paper, reach^2 for randomised response (Hoeffding). Laplace noise is not sub-Gaussian and adds Bernstein's
term.
"""

import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.learners.tally import Averaging, Tally, largest
from sottovoce.privacy.noise import Noise


@configuration("arms")
class Ucb(Averaging):
    """Plays the arm with the largest mean plus deviation."""

    exploration: float
    proxy: float
    tail: float

    def ask(self, state: Tally, key: Key) -> Offer:
        pulls = jnp.maximum(state.pulls, 1.0)
        level = self.exploration * jnp.log(jnp.maximum(jnp.sum(state.pulls), 1.0)) / pulls
        index = state.means + jnp.sqrt(2 * self.proxy * level) + self.tail * level
        return largest(state, index)


def build(task: Task, noise: Noise) -> Ucb:
    exploration = float(task.tuning["exploration"])
    return Ucb(arms=task.arms, exploration=exploration, proxy=noise.proxy, tail=noise.tail)
