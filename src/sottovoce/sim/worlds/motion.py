"""How a world moves between its start and its end."""

import jax
import jax.numpy as jnp


def moved(motion: str, round: jax.Array, period: float) -> jax.Array:
    """How far a world is on its way in this round, from 0 to 1.

    - "fixed": it never moves.
    - "drifting": it goes from start to end and back, once in `period` rounds, slowest at both ends.
    - "switching": it jumps to the end after half a period, and back after a whole one.
    - "alternating": it jumps to the end after two thirds of a period, and back after a whole one. With a short period
      no learner can follow, and a best fixed point in hindsight is at the start, not somewhere between.

    >>> [float(moved("switching", round, 100.0)) for round in (0, 49, 50, 99, 100)]
    [0.0, 0.0, 1.0, 1.0, 0.0]
    """
    if motion == "fixed":
        return jnp.zeros(())
    if motion == "drifting":
        return (1 - jnp.cos(2 * jnp.pi * round / period)) / 2
    stay = 2 / 3 if motion == "alternating" else 1 / 2
    return jnp.where(round % period < stay * period, 0.0, 1.0)
