"""What every learner that averages arm by arm remembers: how often each was tried, and the sum of what was heard."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Offer


class Tally(NamedTuple):
    pulls: jax.Array
    total: jax.Array

    @property
    def means(self) -> jax.Array:
        """The mean of each arm; 0 where nothing was heard."""
        return self.total / jnp.maximum(self.pulls, 1.0)


def blank(arms: int) -> Tally:
    """Nothing heard yet."""
    return Tally(jnp.zeros(arms), jnp.zeros(arms))


def heard(state: Tally, arm: jax.Array, value: jax.Array) -> Tally:
    """With one more value of this arm."""
    return Tally(state.pulls.at[arm].add(1.0), state.total.at[arm].add(value))


def largest(state: Tally, index: jax.Array) -> Offer:
    """The arm with the largest index, after every arm has been tried once.

    >>> largest(Tally(jnp.array([1.0, 0.0]), jnp.zeros(2)), jnp.array([9.0, 1.0])).public.item()
    1
    """
    arm = jnp.argmax(jnp.where(state.pulls > 0, index, jnp.inf))
    return Offer(arm, memo=arm, arm=arm)
