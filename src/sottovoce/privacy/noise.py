"""What a learner may know of the noise in its estimates."""

import math
from typing import NamedTuple

from sottovoce.privacy.domains import Domain, Interval


class Noise(NamedTuple):
    """All that a learner may know of the noise in its estimates, in the domain's natural units."""

    variance: float
    """The largest variance of one number of the estimate around the truth (scalars: worst case over inputs)."""
    bound: float
    """No estimate of a scalar is farther than this from the middle of its range; infinite for unbounded noise."""
    per_block: tuple[float, ...]
    """Standard deviation of a coordinate, block by block."""
    proxy: float = math.inf
    """Sub-Gaussian variance proxy of a scalar estimate, the reward's own spread included."""
    tail: float = 0.0
    """Scale of a heavier, exponential tail (Laplace); zero when the proxy tells all."""
    levels: int = 0
    """How many values a scalar estimate can take; 0 for a continuum."""


def no_noise(domain: Domain) -> Noise:
    """The noise of a mechanism that adds none: the non-private limit, for simulation only.

    >>> no_noise(Interval(0.0, 1.0)).bound
    0.5
    """
    bound = domain.half if isinstance(domain, Interval) else math.inf
    return Noise(0.0, bound, (0.0,) * len(domain.blocks), proxy=bound**2)


def unbounded_noise(domain: Domain, deviations: tuple[float, ...], *, exponential: bool = False) -> Noise:
    """Noise with these deviations of the message's blocks; `exponential` for the tail of Laplace noise.

    >>> unbounded_noise(Interval(0.0, 1.0), (4.0,)).per_block
    (2.0,)
    """
    natural = domain.natural(deviations)
    unit = domain.half if isinstance(domain, Interval) else 1.0
    variance = max(natural) ** 2
    tail = natural[0] / math.sqrt(2) if exponential else 0.0
    return Noise(variance, math.inf, natural, proxy=unit**2 + variance, tail=tail)
