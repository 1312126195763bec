"""What the gradient methods share: an iterate, a clock, and how long a step is."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    iterate: jax.Array
    round: jax.Array


def start(size: int) -> State:
    """At the origin, in the first round."""
    return State(jnp.zeros(size), jnp.ones(()))


def descend(state: State, gradient: jax.Array, region: Any, shrink: Any, step: jax.Array) -> State:
    """One step against the gradient, projected on the shrunken region."""
    return State(region.project(state.iterate - step * gradient, shrink), state.round + 1)


def step_size(rate: Any, strength: Any, offset: Any, time: jax.Array) -> jax.Array:
    """`rate` for convex losses; rate/(strength (time + offset)) for strongly convex ones (strength above 0)."""
    falling = rate / jnp.maximum(strength * (time + offset), 1e-300)
    return jnp.where(strength > 0, falling, rate)
