"""A vector of bounded length."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.privacy.domains.base import ROUNDING, admit, check_dimension, check_positive, shorten


@dataclass(frozen=True)
class Ball:
    """A vector whose Euclidean norm is at most `bound`; longer ones are shortened.

    Two such vectors are at most 2 `bound` apart, and sqrt(dimension) times that in L1 (Cauchy-Schwarz).

    >>> Ball(2, 5.0).embed(np.array([6.0, 8.0]))
    array([3., 4.])
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

    def embed(self, vector: Any) -> Any:
        xp, vector = admit(vector, (self.dimension,), "the vector")
        return shorten(xp, vector, self.bound)

    def extract(self, message: Any) -> Any:
        return message

    def natural(self, deviations: tuple[float, ...]) -> tuple[float, ...]:
        return deviations

    def contains(self, message: Any) -> bool:
        return bool(np.linalg.norm(message) <= self.bound * (1 + ROUNDING))
