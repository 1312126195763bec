"""Links: how the mean reward follows from <x, theta>, and the bounds that privacy and learning take from that.

Rewards are logistic or probit (0 or 1), counts up to a declared maximum (poisson), or within [-1, 1] (identity).
Written on an array namespace: NumPy on a device, JAX in the simulator, the same text.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np

from sottovoce.protocol.errors import UnknownName, check_positive

FARTHEST = 6.0
"""Where the normal distribution function is taken as constant; it is 1e-9 from its limits there."""


class LinkCurve(NamedTuple):
    """A link's mean and slope as functions of (array namespace, number), and the range of its rewards."""

    mean: Callable[[Any, Any], Any]
    slope: Callable[[Any, Any], Any]
    low: float
    high: float


class Link(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A link for ||x|| <= 1 and ||theta|| <= radius; `maximum` is the largest count of a Poisson reward.

    >>> link = Link("logistic")
    >>> round(link.residual, 3), round(link.least_slope, 3)
    (0.731, 0.197)
    """

    name: str
    radius: float = 1.0
    maximum: float = 6.0

    def __post_init__(self) -> None:
        if self.name not in CURVES:
            raise UnknownName("link", self.name, CURVES)
        check_positive("the radius of a link", self.radius)
        check_positive("the maximum of a link", self.maximum)

    def mean(self, xp: Any, z: Any) -> Any:
        """The expected reward where <x, theta> is z."""
        return CURVES[self.name].mean(xp, z)

    def slope(self, xp: Any, z: Any) -> Any:
        """How fast the mean grows at z."""
        return CURVES[self.name].slope(xp, z)

    @property
    def low(self) -> float:
        return CURVES[self.name].low

    @property
    def high(self) -> float:
        return self.maximum if self.name == "poisson" else CURVES[self.name].high

    @property
    def deviation(self) -> float:
        """Rewards are sub-Gaussian with this deviation around their mean (Hoeffding)."""
        return (self.high - self.low) / 2

    @property
    def residual(self) -> float:
        """The largest |mean(z) - y| for |z| <= radius and any reward y. A device clips there."""
        return max(self._end(1) - self.low, self.high - self._end(-1))

    @property
    def largest_mean(self) -> float:
        """The paper's C: the largest |mean(z)| for |z| <= radius."""
        return max(abs(self._end(-1)), abs(self._end(1)))

    @property
    def least_slope(self) -> float:
        """The paper's mu: the smallest slope for |z| <= radius. All four curves are flattest at an end."""
        return float(min(self.slope(np, -self.radius), self.slope(np, self.radius)))

    def _end(self, side: int) -> float:
        return float(self.mean(np, side * self.radius))


def link_of(tuning: Mapping[str, Any]) -> Link:
    """The link that a task's tuning declares.

    >>> link_of({"link": "poisson", "radius": 1.0, "maximum": 5.0}).high
    5.0
    """
    return Link(str(tuning["link"]), float(tuning["radius"]), float(tuning["maximum"]))


def normal_mean(xp: Any, z: Any) -> Any:
    """The normal distribution function, to 2e-15 between -FARTHEST and FARTHEST, to 1e-9 elsewhere.

    It is 1/2 + density(z) (z + z^3/3 + z^5/(3*5) + ...); the terms have one sign, and the 60 taken suffice up to 6.

    >>> round(float(normal_mean(np, 1.0)), 6)
    0.841345
    """
    z = xp.clip(z, -FARTHEST, FARTHEST)
    series = 1.0
    for odd in range(121, 1, -2):
        series = 1 + z * z / odd * series
    return 0.5 + normal_slope(xp, z) * z * series


def normal_slope(xp: Any, z: Any) -> Any:
    """The normal density."""
    return xp.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _logistic(xp: Any, z: Any) -> Any:
    return (1 + xp.tanh(z / 2)) / 2


CURVES = {
    "logistic": LinkCurve(_logistic, lambda xp, z: _logistic(xp, z) * _logistic(xp, -z), 0.0, 1.0),
    "probit": LinkCurve(normal_mean, normal_slope, 0.0, 1.0),
    "poisson": LinkCurve(lambda xp, z: xp.exp(z), lambda xp, z: xp.exp(z), 0.0, math.inf),
    "identity": LinkCurve(lambda xp, z: z, lambda xp, z: xp.ones_like(z), -1.0, 1.0),
}
