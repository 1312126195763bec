"""The place of every number among its neighbours."""

import jax
import jax.numpy as jnp


def ranks(values: jax.Array) -> jax.Array:
    """0 for the smallest number of the last axis, and so on; of equal numbers the first comes first.

    By comparing all pairs: for a few arms much cheaper than sorting under `vmap`.

    >>> ranks(jnp.array([0.3, 0.1, 0.3, 0.2])).tolist()
    [2, 0, 3, 1]
    """
    place = jnp.arange(values.shape[-1])
    mine, other = values[..., :, None], values[..., None, :]
    before = (other < mine) | ((other == mine) & (place[None, :] < place[:, None]))
    return jnp.sum(before, axis=-1)
