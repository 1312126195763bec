"""Uniform play: every action equally likely, nothing learned. The yardstick of every table."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.protocol.offers import GeneralizedModel


class State(NamedTuple):
    reports: jax.Array


@configuration("arms")
class UniformArms:
    """Any arm, whatever was told."""

    arms: int

    def init(self) -> State:
        return State(jnp.zeros(()))

    def ask(self, state: State, key: Key) -> Offer:
        arm = jax.random.randint(key, (), 0, self.arms)
        return Offer(arm, arm=arm)

    def tell(self, state: State, memo: tuple, estimate: jax.Array) -> State:
        return State(state.reports + 1)


@configuration("copies")
class UniformPoints:
    """Any point of the region; so many copies of it where the user expects several points."""

    region: Any
    copies: int = 0

    def init(self) -> State:
        return State(jnp.zeros(()))

    def ask(self, state: State, key: Key) -> Offer:
        point = self.region.place(self.region.uniform(key))
        return Offer(jnp.broadcast_to(point, (self.copies, *point.shape)) if self.copies else point)

    def tell(self, state: State, memo: tuple, estimate: object) -> State:
        return State(state.reports + 1)


@configuration("dimension")
class UniformContext:
    """A model that tells every device to explore."""

    dimension: int

    def init(self) -> State:
        return State(jnp.zeros(()))

    def ask(self, state: State, key: Key) -> Offer:
        d = self.dimension
        return Offer(GeneralizedModel(jnp.zeros(d), jnp.eye(d), jnp.zeros(()), jnp.ones(()), jnp.zeros(d)))

    def tell(self, state: State, memo: tuple, estimate: object) -> State:
        return State(state.reports + 1)
