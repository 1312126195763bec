"""What learners share that average arm by arm: a tally, the arm with the largest index, the order of arms."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Offer


class Tally(NamedTuple):
    pulls: jax.Array
    total: jax.Array

    @property
    def means(self) -> jax.Array:
        """The mean of each arm; 0 where there is no report."""
        return self.total / jnp.maximum(self.pulls, 1.0)


@dataclass(frozen=True, kw_only=True)
class Averaging:
    """A learner whose state is a tally; how it asks is its own."""

    arms: int

    def init(self) -> Tally:
        return Tally(jnp.zeros(self.arms), jnp.zeros(self.arms))

    def memo_of(self, arm: jax.Array) -> jax.Array:
        return arm

    def tell(self, state: Tally, memo: jax.Array, estimate: jax.Array) -> Tally:
        return Tally(state.pulls.at[memo].add(1.0), state.total.at[memo].add(estimate))

    def pretend(self, state: Tally, memo: jax.Array) -> Tally:
        """One more report of the arm, equal to its mean."""
        return Tally(state.pulls.at[memo].add(1.0), state.total.at[memo].add(state.means[memo]))


def largest(state: Tally, index: jax.Array) -> Offer:
    """The arm with the largest index, after every arm has been tried once.

    >>> largest(Tally(jnp.array([1.0, 0.0]), jnp.zeros(2)), jnp.array([9.0, 1.0])).public.item()
    1
    """
    arm = jnp.argmax(jnp.where(state.pulls > 0, index, jnp.inf))
    return Offer(arm, memo=arm, arm=arm)


def ranks(values: jax.Array) -> jax.Array:
    """0 for the smallest number of the last axis, and so on; of equal numbers the first comes first.

    By comparing all pairs: for a few arms much cheaper than sorting under `vmap`.

    >>> ranks(jnp.array([0.3, 0.1, 0.3, 0.2])).tolist()
    [2, 0, 3, 1]
    """
    place = jnp.arange(values.shape[-1])
    mine, other = values[..., :, None], values[..., None, :]
    before = (other < mine) | ((other == mine) & (place[None, :] < place[:, None]))
    return jnp.sum(before, axis=-1)
