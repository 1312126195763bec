"""The gradient of a generalised linear loss."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.privacy.domains.ball import Ball
from sottovoce.privacy.domains.base import admit, shorten


@dataclass(frozen=True)
class Gradient:
    """residual * x for ||x|| <= 1 and |residual| <= bound: the gradient of a generalised linear loss.

    Its norm is at most `bound`, so the messages are those of a ball. The bound is clipped, not assumed: the paper's
    "the loss is C-Lipschitz" does not bound a residual that carries the reward's noise.

    >>> import numpy as np
    >>> Gradient(2, 0.5).embed(np.array([0.0, 1.0]), 3.0)
    array([0. , 0.5])
    """

    dimension: int
    bound: float = 1.0

    def __post_init__(self) -> None:
        Ball(self.dimension, self.bound)

    @property
    def blocks(self) -> tuple[int, ...]:
        return (self.dimension,)

    @property
    def radius(self) -> float:
        return self.bound

    def l2(self, scales: Sequence[float] = (1.0,)) -> float:
        return Ball(self.dimension, self.bound).l2(scales)

    def l1(self, scales: Sequence[float] = (1.0,)) -> float:
        return Ball(self.dimension, self.bound).l1(scales)

    def embed(self, features: Any, residual: Any) -> Any:
        xp, features = admit(features, (self.dimension,), "the features")
        _, residual = admit(residual, (), "the residual")
        return xp.clip(residual, -self.bound, self.bound) * shorten(xp, features, 1.0)

    def extract(self, message: Any) -> Any:
        return message

    def natural(self, deviations: tuple[float, ...]) -> tuple[float, ...]:
        return deviations

    def contains(self, message: Any) -> bool:
        return Ball(self.dimension, self.bound).contains(message)
