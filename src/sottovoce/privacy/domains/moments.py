"""The sufficient statistics of one person for a linear model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.domains.base import ROUNDING, admit, check_dimension, shorten
from sottovoce.protocol.errors import check_positive


class MomentEstimate(NamedTuple):
    """What a linear learner is told: x x' and y x, estimated without bias."""

    gram: Any
    moment: Any


@dataclass(frozen=True)
class Moments:
    """x x' and y x of one person together, for ||x|| <= 1 and |y| <= reward_bound.

    The message is (diagonal of x x', sqrt 2 times its upper triangle, weight * y x / reward_bound). The sqrt 2 makes
    the half-vectorisation an isometry: distances are Frobenius distances.

    *L2.* Let c = <x, x'> for unit x, x'. Then ||x x' - x'x''||_F^2 = 2(1 - c^2) and the vector blocks are at most
    weight * sqrt(2(1 + |c|)) apart, so Delta^2 <= max_c 2(1 - c^2) + 2 w^2 (1 + c), which is ((2 + w^2)/sqrt 2)^2 for
    w <= sqrt 2 and (2w)^2 above. Shorter x do not reach further (searched in the tests). Blocks with different scales
    reduce to this with the smaller matrix scale and w * (matrix scale / vector scale).

    *L1.* Over the upper triangle with its diagonal |D|_1 <= sqrt(d(d+3)/2) (Cauchy-Schwarz on sign patterns; 1 for
    d = 1); the vector block adds 2 w sqrt d.

    >>> round(Moments(5).l2(), 4)
    2.1213
    """

    dimension: int
    reward_bound: float = 1.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_dimension(self.dimension)
        check_positive("reward_bound", self.reward_bound)
        check_positive("weight", self.weight)

    @property
    def blocks(self) -> tuple[int, ...]:
        d = self.dimension
        return (d, d * (d - 1) // 2, d)

    @property
    def radius(self) -> float:
        return math.sqrt(1 + self.weight**2)

    def l2(self, scales: Sequence[float] = (1.0, 1.0, 1.0)) -> float:
        matrix = min(scales[0], scales[1]) if self.dimension > 1 else scales[0]
        weight = self.weight * matrix / scales[2]
        joint = (2 + weight**2) / math.sqrt(2) if weight <= math.sqrt(2) else 2 * weight
        return (joint if self.dimension > 1 else _joint_on_a_line(weight)) / matrix

    def l1(self, scales: Sequence[float] = (1.0, math.sqrt(2), 1.0)) -> float:
        d = self.dimension
        triangle = min(scales[0], scales[1] / math.sqrt(2)) if d > 1 else scales[0]
        spread = math.sqrt(d * (d + 3) / 2) if d > 1 else 1.0
        return spread / triangle + 2 * self.weight * math.sqrt(d) / scales[2]

    def embed(self, features: Any, reward: Any) -> Any:
        xp, features = admit(features, (self.dimension,), "the features")
        _, reward = admit(reward, (), "the reward")
        x = shorten(xp, features, 1.0)
        y = xp.clip(reward / self.reward_bound, -1.0, 1.0)
        products = xp.reshape(x[:, None] * x[None, :], (-1,))
        upper = xp.take(products, _upper_triangle(self.dimension), axis=0)
        return xp.concat([x * x, math.sqrt(2) * upper, self.weight * y * x])

    def extract(self, message: Any) -> MomentEstimate:
        d = self.dimension
        xp = message.__array_namespace__()
        entries = xp.concat([message[:d], message[d:-d] / math.sqrt(2)])
        gram = xp.take(entries, _places(d).ravel(), axis=0).reshape(d, d)
        return MomentEstimate(gram, message[-d:] * (self.reward_bound / self.weight))

    def natural(self, deviations: tuple[float, ...]) -> tuple[float, ...]:
        diagonal, upper, vector = deviations
        return diagonal, upper / math.sqrt(2), vector * self.reward_bound / self.weight

    def contains(self, message: Any) -> bool:
        """Whether the message is what `embed` makes of the x and y that it tells.

        The largest diagonal entry of x x' is the square of x's largest coordinate; divided by that coordinate its row
        is x, up to a sign that neither x x' nor y x tells, and that entry of y x is y. If the two messages agree up to
        ROUNDING, this one is as near to the domain; if it is in the domain, they agree.
        """
        if not np.all(np.abs(message) <= self.radius * (1 + ROUNDING)):  # also refuses NaN
            return False
        d = self.dimension
        place = int(np.argmax(message[:d]))
        largest = math.sqrt(max(float(message[place]), 0.0)) or math.inf  # x = 0 if there is no positive entry
        x = np.concatenate([message[:d], message[d:-d] / math.sqrt(2)])[_places(d)[place]] / largest
        y = float(message[-d:][place]) / largest / self.weight
        apart = message - self.embed(x, max(-1.0, min(1.0, y)) * self.reward_bound)
        return bool(np.linalg.norm(apart[:-d]) <= ROUNDING and np.linalg.norm(apart[-d:]) <= ROUNDING * self.weight)


@lru_cache(maxsize=64)
def _upper_triangle(dimension: int) -> NDArray[np.int64]:
    """Where the strict upper triangle stands in a matrix read row by row."""
    rows, columns = np.triu_indices(dimension, 1)
    return rows * dimension + columns


@lru_cache(maxsize=64)
def _places(dimension: int) -> NDArray[np.int64]:
    """For each entry of a symmetric matrix its place in the list of the diagonal and the strict upper triangle."""
    place = np.zeros((dimension, dimension), dtype=int)
    rows, columns = np.triu_indices(dimension, 1)
    place[rows, columns] = place[columns, rows] = dimension + np.arange(len(rows))
    np.fill_diagonal(place, np.arange(dimension))
    return place


def _joint_on_a_line(weight: float) -> float:
    """Moments in one dimension: the farthest point from x = 1, y = 1 is y = -1 at some 0 < s <= 1.

    Their squared distance (1 + s)^2 ((1 - s)^2 + w^2) has its inner maximum where s (1 - s) = w^2 / 2.
    """
    if weight**2 >= 0.5:
        return 2 * weight
    s = (1 - math.sqrt(1 - 2 * weight**2)) / 2
    return max(2 * weight, (1 + s) * math.sqrt((1 - s) ** 2 + weight**2))
