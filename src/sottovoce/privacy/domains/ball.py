"""A vector of bounded length, and the gradient of a generalised linear loss, which is one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.privacy.domains.base import ROUNDING, Domain, admit, check_dimension, shorten
from sottovoce.protocol.errors import check_positive


@dataclass(frozen=True)
class InBall(Domain):
    """Messages whose Euclidean norm is at most `bound`.

    Two such vectors are at most 2 `bound` apart, and sqrt(dimension) times that in L1 (Cauchy-Schwarz).
    """

    dimension: int
    bound: float = 1.0

    def __post_init__(self) -> None:
        check_dimension(self.dimension)
        check_positive("the bound of a ball", self.bound)

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

    def contains(self, message: Any) -> bool:
        return bool(np.linalg.norm(message) <= self.bound * (1 + ROUNDING))


class Ball(InBall):
    """A vector whose Euclidean norm is at most `bound`; longer ones are shortened.

    >>> Ball(2, 5.0).embed(np.array([6.0, 8.0]))
    array([3., 4.])
    """

    def embed(self, vector: Any) -> Any:
        xp, vector = admit(vector, (self.dimension,), "the vector")
        return shorten(xp, vector, self.bound)


class Gradient(InBall):
    """residual * x for ||x|| <= 1 and |residual| <= bound: the gradient of a generalised linear loss.

    Its norm is at most `bound`, so the messages are those of a ball. The bound is clipped, not assumed: the paper's
    "the loss is C-Lipschitz" does not bound a residual that carries the reward's noise.

    >>> Gradient(2, 0.5).embed(np.array([0.0, 1.0]), 3.0)
    array([0. , 0.5])
    """

    def embed(self, features: Any, residual: Any) -> Any:
        xp, features = admit(features, (self.dimension,), "the features")
        _, residual = admit(residual, (), "the residual")
        return xp.clip(residual, -self.bound, self.bound) * shorten(xp, features, 1.0)
