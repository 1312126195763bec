"""Handwritten digits as a contextual bandit: guess which digit a person drew, be told only whether it was right.

The data is `load_digits` of scikit-learn: 1,797 images of 8 x 8 points (Alpaydin and Kaynak 1998, UCI). Images are
drawn with replacement, so a run may be longer than the data.

An image is z = (1, p)/sqrt 2, where p holds its first principal components divided by the length of the longest p, so
that ||z|| <= 1. The feature of (image, arm) is z in the arm's own block and zero elsewhere: one linear model for each
arm, with `dimension` = `arms` * length of z. The reward is 1 for the right digit and -1 for a wrong one. It is not
linear in z, so even the best linear model keeps some regret. Regret is 2 for each mistake.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from sottovoce.learners.base import Key, configuration
from sottovoce.protocol.errors import ConfigurationError


class Drawing(NamedTuple):
    features: jax.Array
    label: jax.Array


@configuration("dimension", "arms")
class Digits:
    """The digits 0 to `arms` - 1; `digits_of` loads them."""

    dimension: int
    arms: int
    images: Any
    labels: Any

    notice: ClassVar = "Data: digits of scikit-learn (Alpaydin and Kaynak 1998, UCI Machine Learning Repository)."

    def visit(self, round: jax.Array, key: Key) -> Drawing:
        drawn = jax.random.randint(key, (), 0, len(self.labels))
        blocks = jnp.eye(self.arms)[:, :, None] * jnp.asarray(self.images)[drawn]
        return Drawing(blocks.reshape(self.arms, self.dimension), jnp.asarray(self.labels)[drawn])

    def shown(self, context: Drawing) -> jax.Array:
        return context.features

    def outcome(self, context: Drawing, action: jax.Array, key: Key) -> jax.Array:
        return jnp.where(action == context.label, 1.0, -1.0)

    def regret(self, context: Drawing, action: jax.Array) -> jax.Array:
        return jnp.where(action == context.label, 0.0, 2.0)


def digits_of(*, dimension: int, arms: int) -> Digits:
    """The world of this shape, with the images of scikit-learn."""
    length, rest = divmod(dimension, max(arms, 1))
    if not 2 <= arms <= 10:
        raise ConfigurationError(f"world digits has 2 to 10 arms, got {arms}")
    if rest or not 2 <= length <= 65:
        raise ConfigurationError(f"world digits needs a dimension of 2 to 65 times its {arms} arms, got {dimension}")
    try:
        from sklearn.datasets import load_digits  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        raise ConfigurationError("world digits needs scikit-learn: pip install 'sottovoce[data]'") from None
    images, labels = _loaded(load_digits, arms, length)
    return Digits(dimension=dimension, arms=arms, images=images, labels=labels)


@functools.lru_cache(maxsize=4)
def _loaded(load: Callable[..., Any], arms: int, length: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Images as vectors of this length, and what they show. A study builds its world several times."""
    pixels, labels = load(n_class=arms, return_X_y=True)
    return projected(pixels, length), labels


def projected(pixels: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """A constant and the first principal components, in the unit ball."""
    centred = pixels - pixels.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    components = centred @ directions[: length - 1].T
    components = components / np.linalg.norm(components, axis=1).max()
    return np.column_stack([np.ones(len(pixels)), components]) / math.sqrt(2)
