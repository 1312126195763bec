"""Thompson sampling on privatised levels, for stochastic arms.

Play the arm that is best in one draw from the posterior. A report of k-level randomised response takes one of k values,
so an arm is a multinomial and its posterior a Dirichlet (Riou and Honda, "Bandit algorithms based on Thompson sampling
for bounded reward distributions", ALT 2020); k = 2 is the Beta posterior on bits, which Gajane, Urvoy and Kaufmann
("Corrupt bandits for preserving local privacy", ALT 2018) prove asymptotically optimal for the channel. The prior
weighs as much as two reports whatever k is; with one for each level, as Riou and Honda have it, thirty-three levels
would say for long that every arm is in the middle.

An estimate between two levels (zero noise) counts for both in proportion; one beyond them (a quieter report reaches
further) by the same line, for the last level and against the one before, so that the mean is kept. With Gaussian noise
the posterior of the mean is normal with the known variance. Randomised response keeps the order of the arms, so no
noise has to be undone.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.learners.draws import gammas
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import ConfigurationError


class State(NamedTuple):
    counts: jax.Array
    """Per arm: how often each level was reported, the best level first; with Gaussian noise: reports and their sum."""


@configuration("arms", "levels")
class Thompson:
    """Plays the arm that is best in one draw from the posterior. `levels` is 0 for Gaussian noise."""

    arms: int
    levels: int
    reach: float
    proxy: float

    def init(self) -> State:
        return State(jnp.zeros((self.arms, self.levels or 2)))

    def ask(self, state: State, key: Key) -> Offer:
        draw = self._from_levels(state, key) if self.levels else self._from_normal(state, key)
        arm = jnp.argmax(draw)
        return Offer(arm, memo=arm, arm=arm)

    def memo_of(self, arm: jax.Array) -> jax.Array:
        return arm

    def tell(self, state: State, memo: jax.Array, estimate: jax.Array) -> State:
        if not self.levels:
            return State(state.counts.at[memo].add(jnp.stack([jnp.ones_like(estimate), estimate])))
        place = (0.5 - (estimate - 0.5) / (2 * self.reach)) * (self.levels - 1)
        below = jnp.clip(jnp.floor(place), 0, self.levels - 2)
        levels, beyond = jnp.arange(self.levels), place - below
        share = jnp.where(levels == below, 1 - beyond, 0.0) + jnp.where(levels == below + 1, beyond, 0.0)
        return State(state.counts.at[memo].add(share))

    def _from_levels(self, state: State, key: Key) -> jax.Array:
        """The mean reward of each arm under one draw of its Dirichlet posterior."""
        weights = gammas(key, 2 / self.levels + jnp.maximum(state.counts, 0.0))
        return weights @ jnp.linspace(1.0, 0.0, self.levels) / jnp.maximum(jnp.sum(weights, axis=-1), 1e-300)

    def _from_normal(self, state: State, key: Key) -> jax.Array:
        pulls, total = state.counts.T
        spread = jnp.sqrt(self.proxy / jnp.maximum(pulls, 1.0))
        draw = total / jnp.maximum(pulls, 1.0) + spread * jax.random.normal(key, (self.arms,))
        return jnp.where(pulls > 0, draw, jnp.inf)


def build(task: Task, noise: Noise) -> Thompson:
    if noise.tail:
        raise ConfigurationError("thompson has no posterior for Laplace noise; use mechanism levels or gaussian")
    bounded = math.isfinite(noise.bound)
    levels = max(noise.levels, 2) if bounded else 0
    return Thompson(arms=task.arms, levels=levels, reach=noise.bound if bounded else 1.0, proxy=noise.proxy)
