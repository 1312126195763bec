"""What Gaussian noise costs: the delta for two messages so far apart, continuous and discrete."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from sottovoce.privacy.domains import Domain, size
from sottovoce.privacy.special import bisect, log_normal_cdf, normal_cdf

RESOLUTION = 2**24
"""Steps of the grid in one unit of noise scale."""


@lru_cache(maxsize=4096)
def gaussian_scale(epsilon: float, delta: float, coordinates: int = 0) -> float:
    """The least noise per unit of sensitivity (Balle and Wang 2018, Theorem 8); discrete in that many coordinates.

    >>> round(gaussian_scale(1.0, 1e-5), 4)
    3.7306
    """

    def missing(log_scale: float) -> float:
        distance = math.exp(-log_scale)
        return delta - discrete_delta(lambda eps: gaussian_delta(eps, distance), epsilon, coordinates)

    return math.exp(bisect(missing, -20.0, 30.0))


def gaussian_delta(epsilon: float, distance: float) -> float:
    """The delta of the Gaussian mechanism for two messages `distance` noise units apart; any real epsilon.

    >>> round(gaussian_delta(1.0, 1 / 3.7306), 8)
    1e-05
    """
    if distance == 0:
        return max(0.0, 1 - math.exp(epsilon))
    first = normal_cdf(distance / 2 - epsilon / distance)
    second = math.exp(min(epsilon + log_normal_cdf(-distance / 2 - epsilon / distance), 0.0))
    return max(0.0, first - second)


def discrete_delta(ideal: Callable[[float], float], epsilon: float, coordinates: int) -> float:
    """The delta with discrete noise in so many coordinates, from `ideal`, the delta with continuous noise.

    The smaller of two bounds, both proved at `Gaussian`: one by total variation, one by the ratio.
    """
    if not coordinates:
        return min(1.0, ideal(epsilon))
    noised = coordinates * RESOLUTION**-2
    by_variation = ideal(epsilon) + (1 + math.exp(min(epsilon, 700.0))) * noised / 12
    by_ratio = math.exp(200 * noised) * ideal(epsilon - 400 * noised)
    return min(1.0, by_variation, by_ratio)


def gaussian_distance(domain: Domain, scales: Sequence[float]) -> float:
    """How far apart two messages can be, in units of the noise, rounding included."""
    return domain.l2(scales) + rounding_l2(domain)


def rounding_l2(domain: Domain) -> float:
    """What rounding to the grid may add to the distance of two messages, in units of the noise."""
    return 2 * math.sqrt(size(domain)) / RESOLUTION
