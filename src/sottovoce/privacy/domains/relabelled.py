"""The three messages of one person in the paper's generalised linear algorithm."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sottovoce.privacy.domains.moments import Moments
from sottovoce.protocol.errors import check_positive


class RelabelledEstimate(NamedTuple):
    """What a learner is told: x x', z x and r x, estimated without bias."""

    gram: Any
    labelled: Any
    gradient: Any


@dataclass(frozen=True)
class Relabelled:
    """x x', z x and r x of one person together, for ||x|| <= 1, |z| <= label_bound and |r| <= residual_bound.

    The message is (diagonal of x x', sqrt 2 times its upper triangle, z x, weight * r x / residual_bound). In Algorithm
    3 of the paper z is the prediction of the public theta^, and r x the gradient of the loss.

    *L2.* Let w = (z, weight * r / residual_bound), each divided by its scale, so that |w| is at most
    W = |(label_bound, weight)|, each divided by its scale. The last two blocks are the entries of x w', and
    ||x w' - x'w''||^2 = |x|^2 |w|^2 + |x'|^2 |w'|^2 - 2 <x, x'> <w, w'> is at most 2 W^2 (1 + |c|) for unit x, x' with
    c = <x, x'>: what it is in `Moments` for y x with weight W. So the distance is that of `Moments`, and w with -w
    reaches it. *L1.* As there, the two vectors one after the other.

    >>> round(Relabelled(5).l2(), 4)       # that of `Moments` with weight sqrt 2
    2.8284
    """

    dimension: int
    label_bound: float = 1.0
    residual_bound: float = 1.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_positive("label_bound", self.label_bound)
        Moments(self.dimension, self.residual_bound, self.weight)

    @property
    def blocks(self) -> tuple[int, ...]:
        return (*self._gradients.blocks, self.dimension)

    @property
    def radius(self) -> float:
        return math.hypot(1.0, self.label_bound, self.weight)

    def l2(self, scales: Sequence[float] = (1.0, 1.0, 1.0, 1.0)) -> float:
        vectors = math.hypot(self.label_bound / scales[2], self.weight / scales[3])
        return Moments(self.dimension, weight=vectors).l2((*scales[:2], 1.0))

    def l1(self, scales: Sequence[float] = (1.0, math.sqrt(2), 1.0, 1.0)) -> float:
        vectors = self.label_bound / scales[2] + self.weight / scales[3]
        return Moments(self.dimension, weight=vectors).l1((*scales[:2], 1.0))

    def embed(self, features: Any, residual: Any, label: Any) -> Any:
        d = self.dimension
        labelled, gradient = self._labels.embed(features, label), self._gradients.embed(features, residual)
        return labelled.__array_namespace__().concat([labelled, gradient[-d:]])

    def extract(self, message: Any) -> RelabelledEstimate:
        gram, labelled = self._labels.extract(message[: -self.dimension])
        return RelabelledEstimate(gram, labelled, message[-self.dimension :] * (self.residual_bound / self.weight))

    def natural(self, deviations: tuple[float, ...]) -> tuple[float, ...]:
        diagonal, upper, labelled, gradient = deviations
        return diagonal, upper / math.sqrt(2), labelled, gradient * self.residual_bound / self.weight

    def contains(self, message: Any) -> bool:
        """Whether x x' with z x and x x' with r x are messages of `Moments`, each."""
        d = self.dimension
        gradients = np.concatenate([message[: -2 * d], message[-d:]])
        return self._labels.contains(message[:-d]) and self._gradients.contains(gradients)

    @property
    def _labels(self) -> Moments:
        return Moments(self.dimension, self.label_bound, self.label_bound)

    @property
    def _gradients(self) -> Moments:
        return Moments(self.dimension, self.residual_bound, self.weight)
