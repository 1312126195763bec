"""Random numbers in a bounded number of steps: a loop that ends when all seeds have accepted waits for the slowest."""

import jax
import jax.numpy as jnp

from sottovoce.learners.base import Key

TRIES = 3


def gammas(key: Key, shape: jax.Array) -> jax.Array:
    """A number from the gamma distribution with each shape and scale 1: the first of TRIES proposals that is accepted.

    Marsaglia and Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical Software 26,
    2000. A shape below 2 is raised by their remark that G(a) = G(a + 1) U^(1/a). A proposal is then refused with
    probability at most 0.05 for shapes below 1, and 0.02 above. The last one is taken whatever it is, so the law is
    right but for at most 0.05^TRIES, or 0.02^TRIES, of its mass.

    >>> bool((gammas(jax.random.key(0), jnp.array([0.1, 1.0, 1000.0])) > 0).all())
    True
    """
    small = shape < 2
    d = shape + small - 1 / 3
    normal, even, other = jax.random.split(key, 3)
    x = jax.random.normal(normal, (TRIES, *shape.shape), jnp.float32).astype(d.dtype)
    u = jax.random.uniform(even, (TRIES, *shape.shape), jnp.float32)
    w = jnp.maximum(x / jnp.sqrt(9 * d), -0.999)
    v = (1 + w) ** 3
    accepted = jnp.log(u) < x**2 / 2 + d * (1 - v + 3 * jnp.log1p(w))
    found = v[-1]
    for one, good in zip(v[-2::-1], accepted[-2::-1], strict=True):
        found = jnp.where(good, one, found)
    power = jax.random.uniform(other, shape.shape, jnp.float32).astype(d.dtype) ** (1 / shape)
    return d * found * jnp.where(small, power, 1.0)
