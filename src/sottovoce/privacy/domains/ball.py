"""Messages in a ball: one number, a vector of bounded length, the gradient of a generalised linear loss."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.privacy.domains.base import ROUNDING, admit, check_dimension, shorten
from sottovoce.protocol.errors import check_positive, check_range


class InBall:
    """Vectors of `dimension` numbers whose Euclidean norm is at most `bound`.

    Two such vectors are at most 2 `bound` apart, and sqrt(dimension) times that in L1 (Cauchy-Schwarz).
    """

    dimension: int
    bound: float

    @property
    def blocks(self) -> tuple[int, ...]:
        return (self.dimension,)

    @property
    def radius(self) -> float:
        return self.bound

    def l2(self, scales: Sequence[float] = (1.0,)) -> float:
        return 2 * self.bound / scales[0]

    def l1(self, scales: Sequence[float] = (1.0,)) -> float:
        return math.sqrt(self.dimension) * self.l2(scales)

    def extract(self, message: Any) -> Any:
        return message

    def natural(self, deviations: tuple[float, ...]) -> tuple[float, ...]:
        return deviations

    def contains(self, message: Any) -> bool:
        return bool(np.linalg.norm(message) <= self.bound * (1 + ROUNDING))


@dataclass(frozen=True)
class Interval(InBall):
    """One number in a declared range; the message is its position between -1 and 1.

    >>> Interval(1.0, 5.0).embed(7.0)      # five stars are the most one can give
    array([1.])
    """

    low: float = 0.0
    high: float = 1.0

    dimension = 1
    bound = 1.0

    def __post_init__(self) -> None:
        check_range("an interval", self.low, self.high)

    @property
    def half(self) -> float:
        return (self.high - self.low) / 2

    @property
    def middle(self) -> float:
        return (self.high + self.low) / 2

    def embed(self, value: Any) -> Any:
        xp, value = admit(value, (), "the value")
        return xp.reshape(xp.clip((value - self.middle) / self.half, -1.0, 1.0), (1,))

    def extract(self, message: Any) -> Any:
        return self.middle + self.half * message[..., 0]

    def natural(self, deviations: tuple[float, ...]) -> tuple[float, ...]:
        return (deviations[0] * self.half,)


@dataclass(frozen=True)
class Ball(InBall):
    """A vector whose Euclidean norm is at most `bound`; longer ones are shortened.

    >>> Ball(2, 5.0).embed(np.array([6.0, 8.0]))
    array([3., 4.])
    """

    dimension: int
    bound: float = 1.0

    def __post_init__(self) -> None:
        check_dimension(self.dimension)
        check_positive("the bound of a ball", self.bound)

    def embed(self, vector: Any) -> Any:
        xp, vector = admit(vector, (self.dimension,), "the vector")
        return shorten(xp, vector, self.bound)


@dataclass(frozen=True)
class Gradient(InBall):
    """residual * x for ||x|| <= 1 and |residual| <= bound: the gradient of a generalised linear loss.

    Its norm is at most `bound`, so the messages are those of a ball. The bound is clipped, not assumed: the paper's
    "the loss is C-Lipschitz" does not bound a residual that carries the reward's noise.

    >>> Gradient(2, 0.5).embed(np.array([0.0, 1.0]), 3.0)
    array([0. , 0.5])
    """

    dimension: int
    bound: float = 1.0

    def __post_init__(self) -> None:
        Ball(self.dimension, self.bound)

    def embed(self, features: Any, residual: Any) -> Any:
        xp, features = admit(features, (self.dimension,), "the features")
        _, residual = admit(residual, (), "the residual")
        return xp.clip(residual, -self.bound, self.bound) * shorten(xp, features, 1.0)
