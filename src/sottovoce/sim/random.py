"""Random keys for the simulator: Threefry written out, so that XLA compiles it together with the arithmetic around it.

JAX's own generator is a loop of small kernels on a CPU and took most of a round of a cheap learner. Same cipher, same
statistical quality; the streams differ from JAX's. Users' learners and worlds receive
these keys and use `jax.random` as always. For simulation only: a device draws from the operating system.
"""

import math
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import random as extend

from sottovoce.learners.draws import computed_once
from sottovoce.privacy import threefry as cipher

threefry = jax.jit(cipher.threefry)
"""Traced and compiled once for each shape, however often a loop draws."""


def _seed(seed: jax.Array) -> jax.Array:
    high = seed >> 32 if seed.dtype.itemsize == 8 else jnp.zeros_like(seed)
    return jnp.stack([high.astype(np.uint32), seed.astype(np.uint32)])


def _split(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    counters = jnp.arange(int(np.prod(shape)), dtype=np.uint32).reshape(shape)
    return jnp.stack(threefry(key, counters, np.uint32(0x5917)), axis=-1)


def _fold_in(key: jax.Array, data: Any) -> jax.Array:
    return jnp.stack(threefry(key, jnp.asarray(data, np.uint32), np.uint32(0xF01D)))


def _random_bits(key: jax.Array, bit_width: int, shape: tuple[int, ...]) -> jax.Array:
    counters = jnp.arange(int(np.prod(shape)), dtype=np.uint32).reshape(shape)
    x, y = threefry(key, counters, np.uint32(0xB175))
    if bit_width == 64:
        return (x.astype(np.uint64) << np.uint64(32)) | y.astype(np.uint64)
    return x.astype({8: np.uint8, 16: np.uint16, 32: np.uint32}[bit_width])


CIPHER: dict[str, Any] = {"random_split": _split, "random_bits": _random_bits, "random_fold_in": _fold_in}
"""What the generator does with a key's two words, by JAX's name for it."""


@lru_cache(maxsize=1)
def _implementation() -> Any:
    return extend.define_prng_impl(
        key_shape=(2,),
        seed=_seed,
        split=_split,
        random_bits=_random_bits,
        fold_in=_fold_in,
        name="sottovoce_threefry",
        tag="sv",
    )


@computed_once
@partial(jax.jit, static_argnums=1)
def normals(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Standard normal numbers with 24 bits of randomness each, at half the price of 53; arithmetic stays in float64.

    They are drawn in one row: a CPU computes a long row faster than many short ones.

    >>> normals(simulation_key(0), (2, 3)).shape
    (2, 3)
    """
    return jax.random.normal(key, (math.prod(shape),), dtype=np.float32).astype(float).reshape(shape)


def simulation_key(seed: Any) -> jax.Array:
    """A key of the fast generator.

    >>> float(jax.random.uniform(simulation_key(0))) != float(jax.random.uniform(simulation_key(1)))
    True
    """
    return jax.random.key(seed, impl=_implementation())


@partial(jax.jit, static_argnums=1)
def seed_keys(seed: int, seeds: int, first: int = 0) -> jax.Array:
    """One random key per seed; a seed has the same key whichever is the first."""
    return jax.vmap(lambda i: jax.random.fold_in(simulation_key(seed), i))(first + jnp.arange(seeds))


class RoundKeys(NamedTuple):
    """The keys of one round, in the order in which they are used."""

    ask: jax.Array
    visit: jax.Array
    act: jax.Array
    outcome: jax.Array
    report: jax.Array


def round_keys(key: jax.Array, round: jax.Array) -> RoundKeys:
    """The keys of this round of a seed."""
    return RoundKeys(*jax.random.split(jax.random.fold_in(key, round), 5))


def sealed(key: jax.Array) -> jax.Array:
    """A fresh key as two plain numbers, which can travel in an offer's memo and wait in a queue."""
    return jax.random.bits(jax.random.fold_in(key, 0x5EA1), (2,), np.uint32)


def unsealed(words: jax.Array) -> jax.Array:
    """The key that was sealed.

    >>> words = sealed(simulation_key(0))
    >>> bool((jax.random.key_data(unsealed(words)) == words).all())
    True
    """
    return jax.random.wrap_key_data(words, impl=_implementation())
