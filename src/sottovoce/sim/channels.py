"""The laws of the mechanisms in JAX: fast and seeded, for simulation only."""

import dataclasses
from typing import Any

import jax

from sottovoce.learners.base import Key
from sottovoce.privacy.base import Law, Mechanism, Random
from sottovoce.sim.random import normals


@dataclasses.dataclass(frozen=True)
class JaxRandom:
    """The randomness of one key, in the given floating-point type."""

    key: Key
    dtype: Any

    def split(self) -> tuple["JaxRandom", "JaxRandom"]:
        first, second = jax.random.split(self.key)
        return JaxRandom(first, self.dtype), JaxRandom(second, self.dtype)

    def uniforms(self, shape: tuple[int, ...]) -> jax.Array:
        return jax.random.uniform(self.key, shape, dtype=self.dtype)

    def normals(self, shape: tuple[int, ...]) -> jax.Array:
        return normals(self.key, shape)

    def laplaces(self, shape: tuple[int, ...]) -> jax.Array:
        return jax.random.laplace(self.key, shape, dtype=self.dtype)


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

    def draw(self, message: jax.Array, key: Key) -> jax.Array:
        return self.law.draw(message, JaxRandom(key, message.dtype))

    def tree_flatten(self) -> tuple[list[Any], type[Any]]:
        return list(vars(self.law).values()), type(self.law)

    @classmethod
    def tree_unflatten(cls, law: type[Any], numbers: Any) -> "Channel":
        return cls(law(**dict(zip((field.name for field in dataclasses.fields(law)), numbers, strict=True))))


def channel_of(mechanism: Mechanism | None) -> Channel:
    """The simulated mechanism; None adds no noise.

    >>> channel_of(None).draw(jax.numpy.ones(2), jax.random.key(0)).tolist()
    [1.0, 1.0]
    """
    return Channel(mechanism.law() if mechanism else NoNoise())
