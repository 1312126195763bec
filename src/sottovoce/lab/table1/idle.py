"""What not learning costs: the yardstick that says whether a point of a curve counts."""

from typing import Any

import jax.numpy as jnp

from sottovoce.learners.base import Key, Offer, configuration


@configuration()
class Middle:
    """The middle of the region, whatever was told. In many worlds it costs less than random points."""

    uniform: Any
    """Random play of the same shape."""

    def init(self) -> Any:
        return self.uniform.init()

    def ask(self, state: Any, key: Key) -> Offer:
        random, region = self.uniform.ask(state, key).public, self.uniform.region
        return Offer(jnp.broadcast_to(region.place(jnp.zeros(region.size)), random.shape))

    def tell(self, state: Any, memo: tuple, estimate: object) -> Any:
        return self.uniform.tell(state, memo, estimate)
