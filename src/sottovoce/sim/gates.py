"""What reports go through in a simulation: one mechanism for everybody, or quieter ones for some people."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.engine.weighing import weight_of
from sottovoce.learners.base import Key, configuration
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.channels import channel_of

CHOICE = 1
"""Folded into the key of a report to choose its gate, so that the noise is the same with and without quieter gates."""


class Quieter(NamedTuple):
    """Some people answer through this mechanism instead of the task's; their reports weigh less."""

    mechanism: Mechanism
    share: float
    """Of the people, between 0 and 1."""


@configuration()
class Gates:
    """The channels of a run; the first is everybody's who uses no other."""

    channels: tuple[Any, ...]
    shares: tuple[float, ...] = ()
    """Of the people who use the second channel, the third, and so on."""
    weights: tuple[float, ...] = ()
    """What a report through each channel weighs."""

    def draw(self, message: jax.Array, key: Key) -> tuple[jax.Array, jax.Array | None]:
        """The estimate of the message, and its weight (None: in full)."""
        heard = [channel.draw(message, key) for channel in self.channels]
        if len(heard) == 1:
            return heard[0], None
        gate = self.choose(key)
        return jnp.stack(heard)[gate], jnp.array(self.weights)[gate]

    def choose(self, key: Key) -> jax.Array:
        """Which channel this person uses."""
        place = jax.random.uniform(jax.random.fold_in(key, CHOICE))
        ends = jnp.cumsum(jnp.array(self.shares))
        return jnp.where(place < ends[-1], jnp.sum(place >= ends) + 1, 0)


def gates_of(mechanism: Mechanism | None, quieter: Sequence[Quieter] = ()) -> Gates:
    """The simulated mechanisms.

    >>> from sottovoce import Budget, Interval, calibrate
    >>> full, half = (calibrate("levels", Interval(), Budget(epsilon)) for epsilon in (1.0, 0.5))
    >>> [round(weight, 2) for weight in gates_of(full, [Quieter(half, 0.3)]).weights]
    [1.0, 0.28]
    """
    if not quieter:
        return Gates(channels=(channel_of(mechanism),))
    if mechanism is None:
        raise ConfigurationError("quieter mechanisms need a mechanism that they are quieter than, got none")
    shares = tuple(float(share) for _, share in quieter)
    if min(shares) <= 0 or sum(shares) > 1:
        raise ConfigurationError(f"shares of quieter mechanisms must be positive and at most 1 in all, got {shares}")
    every = (mechanism, *(one for one, _ in quieter))
    if any(one.domain != mechanism.domain for one in every):
        raise ConfigurationError("quieter mechanisms must have the domain of the mechanism")
    noises = [one.noise() for one in every]
    weights = tuple(weight_of(noises[0], noise) for noise in noises)
    if max(weights) > 1:
        raise ConfigurationError("a quieter mechanism must have more noise than the mechanism, not less")
    return Gates(channels=tuple(channel_of(one) for one in every), shares=shares, weights=weights)
