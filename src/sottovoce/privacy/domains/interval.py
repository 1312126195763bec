"""One number."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.privacy.domains.base import ROUNDING, admit
from sottovoce.protocol.errors import check_range


@dataclass(frozen=True)
class Interval:
    """One number in a declared range; the message is its position between -1 and 1.

    >>> Interval(1.0, 5.0).embed(7.0)      # five stars are the most one can give
    array([1.])
    """

    low: float = 0.0
    high: float = 1.0

    blocks = (1,)
    radius = 1.0

    def __post_init__(self) -> None:
        check_range("an interval", self.low, self.high)

    @property
    def half(self) -> float:
        return (self.high - self.low) / 2

    @property
    def middle(self) -> float:
        return (self.high + self.low) / 2

    def l2(self, scales: Sequence[float] = (1.0,)) -> float:
        return 2.0 / scales[0]

    def l1(self, scales: Sequence[float] = (1.0,)) -> float:
        return self.l2(scales)

    def embed(self, value: Any) -> Any:
        xp, value = admit(value, (), "the value")
        return xp.reshape(xp.clip((value - self.middle) / self.half, -1.0, 1.0), (1,))

    def extract(self, message: Any) -> Any:
        return self.middle + self.half * message[..., 0]

    def natural(self, deviations: tuple[float, ...]) -> tuple[float, ...]:
        return (deviations[0] * self.half,)

    def contains(self, message: Any) -> bool:
        return bool(np.abs(message[0]) <= 1 + ROUNDING)
