"""What one person has sent, as plain data. `accounting` says what it costs."""

import math
from collections import Counter
from dataclasses import dataclass

from sottovoce.privacy.special import normal_quantile
from sottovoce.protocol.errors import ConfigurationError


@dataclass(frozen=True)
class Spent:
    """What was sent, as plain data: everything that the cost depends on, and nothing about what was said.

    >>> Spent(pure=((1.0, 2),)) + Spent(pure=((0.5, 1), (1.0, 1)))
    Spent(pure=((0.5, 1), (1.0, 3)), squared=0.0, coordinates=0)
    """

    pure: tuple[tuple[float, int], ...] = ()
    """Pure reports: their epsilon and how many of them."""
    squared: float = 0.0
    """Sum of the squared Gaussian distances, in units of the noise."""
    coordinates: int = 0
    """How many numbers carried discrete Gaussian noise."""

    def __post_init__(self) -> None:
        if not all(0 < epsilon < math.inf and count >= 1 and count == int(count) for epsilon, count in self.pure):
            raise ConfigurationError(f"pure reports need a positive epsilon and a whole count, got {self.pure}")
        if not (0 <= self.squared < math.inf and self.coordinates >= 0):
            raise ConfigurationError(f"what was spent cannot be negative, got {self.squared} and {self.coordinates}")
        merged: Counter[float] = Counter()
        for epsilon, count in self.pure:
            merged[float(epsilon)] += int(count)
        object.__setattr__(self, "pure", tuple(sorted(merged.items())))

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.pure + other.pure, self.squared + other.squared, self.coordinates + other.coordinates)

    def __mul__(self, times: int) -> "Spent":
        pure = tuple((epsilon, count * times) for epsilon, count in self.pure)
        return Spent(pure, self.squared * times, self.coordinates * times)

    @property
    def total(self) -> float:
        """Basic composition: the sum of all epsilons at delta 0; infinite with Gaussian noise.

        >>> Spent(pure=((0.5, 4),)).total
        2.0
        """
        return math.inf if self.squared else math.fsum(epsilon * count for epsilon, count in self.pure)

    @property
    def as_gaussian(self) -> "Spent":
        """Costs no less, and holds even when later budgets were chosen in the light of earlier answers.

        The trade-off curve of randomised response lies above the Gaussian one through its corner (a convex curve is
        below its chords), and Gaussian costs add up whatever was chosen when (Smith, Thakurta 2022).

        >>> round(Spent(pure=((1.0, 4),)).as_gaussian.squared, 3)
        6.072
        """
        distances = ((2 * normal_quantile(1 / (1 + math.exp(epsilon))), count) for epsilon, count in self.pure)
        return Spent((), self.squared + math.fsum(count * mu**2 for mu, count in distances), self.coordinates)
