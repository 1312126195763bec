"""Random numbers in a bounded number of steps: a loop that ends when all seeds have accepted waits for the slowest."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import jax
import jax.numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata

from sottovoce.learners.base import Key

TRIES = 3

Given = ParamSpec("Given")
Found = TypeVar("Found")


def computed_once(compiled: Callable[Given, Found]) -> Callable[Given, Found]:
    """The same function; what it finds is kept in memory on a CPU, not computed again by everything that reads it.

    XLA joins cheap steps with each of their readers, and takes the words of Threefry for cheap: the features of people
    were drawn three times, in loops as short as a reader's. Only for functions of `jax.jit` with dozens of numbers; for
    a few, to join is faster.

    >>> float(computed_once(jax.jit(jnp.sum))(jnp.ones(3)))
    3.0
    """

    @functools.wraps(compiled)
    def apart(*given: Given.args, **named: Given.kwargs) -> Found:
        if jax.default_backend() != "cpu":
            return compiled(*given, **named)
        with set_xla_metadata(inlineable="false"):
            return compiled(*given, **named)

    return apart


@computed_once
@jax.jit
def gammas(key: Key, shape: jax.Array) -> jax.Array:
    """A number from the gamma distribution with each shape and scale 1: the first of TRIES proposals that is accepted.

    Marsaglia and Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical Software 26,
    2000. A shape below 2 is raised by their remark that G(a) = G(a + 1) U^(1/a). A proposal is then refused with
    probability at most 0.05 for shapes below 1, and 0.02 above. The last one is taken whatever it is, so the law is
    right but for at most 0.05^TRIES, or 0.02^TRIES, of its mass. All numbers stand in one row, however many axes the
    shapes have: a CPU computes a long row faster than many short ones.

    >>> bool((gammas(jax.random.key(0), jnp.array([0.1, 1.0, 1000.0])) > 0).all())
    True
    """
    each = shape.ravel()
    small = each < 2
    d = each + small - 1 / 3
    normal, even, other = jax.random.split(key, 3)
    x = jax.random.normal(normal, (TRIES * each.size,), jnp.float32).astype(d.dtype).reshape(TRIES, -1)
    u = jax.random.uniform(even, (TRIES * each.size,), jnp.float32).reshape(TRIES, -1)
    w = jnp.maximum(x / jnp.sqrt(9 * d), -0.999)
    v = (1 + w) ** 3
    accepted = jnp.log(u) < x**2 / 2 + d * (1 - v + 3 * jnp.log1p(w))
    found = v[-1]
    for one, good in zip(v[-2::-1], accepted[-2::-1], strict=True):
        found = jnp.where(good, one, found)
    power = jax.random.uniform(other, (each.size,), jnp.float32).astype(d.dtype) ** (1 / each)
    return (d * found * jnp.where(small, power, 1.0)).reshape(shape.shape)
