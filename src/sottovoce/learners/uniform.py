"""Uniform play: every action equally likely, nothing learned. The yardstick of every table."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, Offer, configuration


class State(NamedTuple):
    reports: jax.Array


class _Uniform:
    """Counts the reports, whatever they say."""

    def init(self) -> State:
        return State(jnp.zeros(()))

    def tell(self, state: State, memo: tuple, estimate: object) -> State:
        return State(state.reports + 1)


@configuration("arms")
class UniformArms(_Uniform):
    """Any arm, whatever was told."""

    arms: int

    def ask(self, state: State, key: Key) -> Offer:
        arm = jax.random.randint(key, (), 0, self.arms)
        return Offer(arm, arm=arm)


@configuration("copies")
class UniformPoints(_Uniform):
    """Any point of the region; so many copies of it where the user expects several points."""

    region: Any
    copies: int = 0

    def ask(self, state: State, key: Key) -> Offer:
        point = self.region.place(self.region.uniform(key))
        return Offer(jnp.broadcast_to(point, (self.copies, *point.shape)) if self.copies else point)


class EveryModel(NamedTuple):
    """The parts of all kinds of models, so that every user can answer."""

    theta: jax.Array
    precision: jax.Array
    width: jax.Array
    explore: jax.Array
    anchor: jax.Array
    clip: jax.Array
    by_anchor: jax.Array
    base: jax.Array
    contrast: jax.Array


@configuration("dimension")
class UniformContext(_Uniform):
    """A model that tells every device to explore."""

    dimension: int

    def ask(self, state: State, key: Key) -> Offer:
        none, zero, one = jnp.zeros(self.dimension), jnp.zeros(()), jnp.ones(())
        return Offer(EveryModel(none, jnp.eye(self.dimension), zero, one, none, one, zero, zero, zero))
