"""What was heard since a mark and before it, for marks at dyadic distances: memory grows with the log of the horizon.

Of every series (an arm, or all reports) and every scale s two blocks are kept, the `previous` and the `current` one.
The current one is closed at the first model after it has 2^s reports, and a new one begins. So at every scale the
newest reports are known since a mark between one and two blocks ago, and so is what was heard before that mark.

Everything is a count and sums over reports, in the last axis; quieter reports count for less.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

FIRST = 3
"""Fewer than 2^3 reports never prove a change."""


class Marks(NamedTuple):
    whole: jax.Array
    """Since the start: a row of count and sums for each series."""
    previous: jax.Array
    """A row for each series and scale."""
    current: jax.Array

    @property
    def recent(self) -> jax.Array:
        """Since the mark."""
        return self.previous + self.current

    @property
    def before(self) -> jax.Array:
        """Until the mark; nothing as long as only one block was closed."""
        return self.whole[..., None, :] - self.recent


def lengths(rounds: int) -> jax.Array:
    """How long a block is at each scale.

    >>> lengths(100).tolist()
    [8.0, 16.0, 32.0]
    """
    return 2.0 ** jnp.arange(FIRST, max(FIRST + 1, math.floor(math.log2(rounds))))


def no_marks(series: tuple[int, ...], scales: int, numbers: int) -> Marks:
    """Nothing was heard yet; `numbers` are the count and the sums."""
    blocks = jnp.zeros((*series, scales, numbers))
    return Marks(jnp.zeros((*series, numbers)), blocks, blocks)


def added(marks: Marks, fresh: jax.Array) -> Marks:
    """With the counts and sums of the reports since the last model."""
    return marks._replace(whole=marks.whole + fresh, current=marks.current + fresh[..., None, :])


def closed(marks: Marks, lengths: jax.Array) -> Marks:
    """Blocks that are long enough become the previous ones."""
    full = (marks.current[..., 0] >= lengths)[..., None]
    return marks._replace(
        previous=jnp.where(full, marks.current, marks.previous), current=jnp.where(full, 0.0, marks.current)
    )


def means(sums: jax.Array) -> jax.Array:
    """Sums over counts; about 0 where nothing was heard: what is left there by rounding is far below the bound."""
    return sums[..., 1:] / jnp.maximum(sums[..., :1], 1e-6)
