"""What the gradient methods share: an iterate, a clock, and how long a step is."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    iterate: jax.Array
    round: jax.Array


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Steps of `rate` for convex losses, of rate/(strength (t + offset)) for strongly convex ones (strength > 0)."""

    region: Any
    explore: float
    rate: float
    strength: float
    offset: float

    def init(self) -> State:
        return State(jnp.zeros(self.region.size), jnp.ones(()))

    def _descended(self, state: State, gradient: jax.Array) -> State:
        """One step against the gradient, projected on the region shrunken by `explore`."""
        falling = self.rate / jnp.maximum(self.strength * (state.round + self.offset), 1e-300)
        step = jnp.where(self.strength > 0, falling, self.rate)
        shrink = 1 - self.explore / self.region.inner
        return State(self.region.project(state.iterate - step * gradient, shrink), state.round + 1)
