"""The border between rewards and losses: every learner is told rewards; some papers speak of losses inside."""

import jax


def loss_of(reward: jax.Array, middle: float = 0.5) -> jax.Array:
    """The reward mirrored at the middle of its range: the best reward is the least loss. Slopes have the middle 0.

    >>> loss_of(0.75)
    0.25
    """
    return 2 * middle - reward
