"""What reports go through in a simulation: the laws of the mechanisms, seeded; quieter ones for some people."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sottovoce.engine.step import weight_of
from sottovoce.learners.base import Key, configuration
from sottovoce.privacy.base import Law, Mechanism, Random
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.random import normals

CHOICE = 1
"""Folded into the key of a report to choose its gate, so that the noise is the same with and without quieter gates."""


@dataclasses.dataclass(frozen=True)
class JaxRandom:
    """The randomness of one key."""

    key: Key

    def split(self) -> tuple["JaxRandom", "JaxRandom"]:
        first, second = jax.random.split(self.key)
        return JaxRandom(first), JaxRandom(second)

    def uniforms(self, shape: tuple[int, ...]) -> jax.Array:
        return jax.random.uniform(self.key, shape)

    def normals(self, shape: tuple[int, ...]) -> jax.Array:
        return normals(self.key, shape)

    def laplaces(self, shape: tuple[int, ...]) -> jax.Array:
        return jax.random.laplace(self.key, shape)


@dataclasses.dataclass(frozen=True)
class NoNoise:
    """The non-private limit: the server reads the message itself."""

    def draw(self, message: Any, random: Random) -> Any:
        return message


@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass(frozen=True)
class Channel:
    """From a message to the server's estimate of it: a pytree of the law's numbers, with its class as the structure."""

    law: Law

    def draw(self, message: Any, key: Key) -> Any:
        return self.law.draw(message, JaxRandom(key))

    def tree_flatten(self) -> tuple[list[Any], type[Any]]:
        return list(vars(self.law).values()), type(self.law)

    @classmethod
    def tree_unflatten(cls, law: type[Any], numbers: Any) -> "Channel":
        return cls(law(**dict(zip((field.name for field in dataclasses.fields(law)), numbers, strict=True))))


def channel_of(mechanism: Mechanism | None) -> Channel:
    """The simulated mechanism; None adds no noise.

    >>> channel_of(None).draw(jnp.ones(2), jax.random.key(0)).tolist()
    [1.0, 1.0]
    """
    return Channel(mechanism.law() if mechanism else NoNoise())


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

    def draw(self, message: Any, key: Key) -> tuple[Any, jax.Array | None]:
        """The estimate of the message, and its weight (None: in full)."""
        estimates = [channel.draw(message, key) for channel in self.channels]
        if len(estimates) == 1:
            return estimates[0], None
        gate = self.choose(key)
        return jnp.stack(estimates)[gate], jnp.array(self.weights)[gate]

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
