"""The direction of a person's features and how far a prediction was off, relative to a clip that everybody knows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sottovoce.privacy.domains.base import ROUNDING, admit, check_dimension, unit
from sottovoce.protocol.errors import check_positive


class DirectionEstimate(NamedTuple):
    """What a learner is told: clip(residual / clip) x / ||x||, and how often the clip cuts, estimated without bias."""

    direction: Any
    cut: Any


@dataclass(frozen=True)
class Direction:
    """(f x / ||x||, share) if the residual is beyond the clip, (f x / ||x||, -share) if not; f = residual / clip, cut.

    f lies between -1 and 1, so the first block has length at most 1 whatever the features, the residual and the clip
    are: the message is at most sqrt(1 + share^2) long. Features of length 0 have the direction 0.

    *L2, L1.* The first blocks of two messages are at most 2 apart (2 sqrt d in L1), the second ones 2 share. Both are
    reached together by residuals of one clip and of minus two clips.

    >>> Direction(2, 0.5).embed(np.array([0.0, 0.1]), 0.3, 0.6)
    array([ 0. ,  0.5, -0.5])
    """

    dimension: int
    share: float = 0.2

    def __post_init__(self) -> None:
        check_dimension(self.dimension)
        check_positive("the share of a direction", self.share)

    @property
    def blocks(self) -> tuple[int, ...]:
        return (self.dimension, 1)

    @property
    def radius(self) -> float:
        return math.sqrt(1 + self.share**2)

    def l2(self, scales: Sequence[float] = (1.0, 1.0)) -> float:
        return 2 * math.hypot(1 / scales[0], self.share / scales[1])

    def l1(self, scales: Sequence[float] = (1.0, 1.0)) -> float:
        return 2 * (math.sqrt(self.dimension) / scales[0] + self.share / scales[1])

    def embed(self, features: Any, residual: Any, clip: Any) -> Any:
        xp, features = admit(features, (self.dimension,), "the features")
        _, residual = admit(residual, (), "the residual")
        _, clip = admit(clip, (), "the clip")
        clip = xp.maximum(clip, 1e-100)  # whatever a server says
        cut = xp.where(xp.abs(residual) > clip, self.share, -self.share)
        return xp.concat([xp.clip(residual / clip, -1.0, 1.0) * unit(xp, features), xp.reshape(cut, (1,))])

    def extract(self, message: Any) -> DirectionEstimate:
        return DirectionEstimate(message[..., :-1], (message[..., -1] / self.share + 1) / 2)

    def natural(self, deviations: tuple[float, ...]) -> tuple[float, ...]:
        return deviations[0], deviations[1] / (2 * self.share)

    def contains(self, message: Any) -> bool:
        room = 1 + ROUNDING
        return bool(np.linalg.norm(message[:-1]) <= room and abs(message[-1]) <= self.share * room)
