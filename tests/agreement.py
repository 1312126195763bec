"""Whether two devices play the same: the same random numbers, the same regret but for rounding, the same law after it.

Rounding decides between two arms that are equally good by computation (a first round often is such a tie), so a share
of the seeds parts at once; how large a share depends on the learner. It is told, not judged.
"""

import math
from typing import NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from sottovoce.learners.draws import gammas
from sottovoce.sim.random import normals, simulation_key

FALSE_ALARM = 1e-6
"""The probability that a comparison of two faithful devices fails anywhere, of all that are made of one catalogue."""

ROUNDING = 1e-4
"""Two numbers are alike if they differ by less than this share of the largest: normal numbers are drawn in float32."""

EXACT, DRAWS = ("bits", "uniform", "integers", "order"), 4096
"""Random numbers that no device rounds; of the others one in a thousand may be unlike, where one was nearly refused."""


class Played(NamedTuple):
    """What a device gave; rows are seeds, the same on every device."""

    regret: NDArray[np.float64]
    """Columns are checkpoints."""
    samples: NDArray[np.float64]


class Agreement(NamedTuple):
    """What a comparison found."""

    alike: float
    """The share of seeds with the same regret in the end."""
    distance: float
    """Of the two ends, in units that a false alarm knows: see `distance_of`."""
    allowed: float

    @property
    def holds(self) -> bool:
        return self.distance <= self.allowed


def agreement_of(one: Played, other: Played, comparisons: int = 1) -> Agreement:
    """How far the two agree, where so many comparisons share the probability of a false alarm.

    >>> played = Played(np.ones((4, 2)), np.ones(4))
    >>> agreement_of(played, played).holds
    True
    """
    ends = (one.regret[:, -1], other.regret[:, -1]), (one.samples, other.samples)
    distance = max(distance_of(*pair) for pair in ends)
    allowed = math.sqrt(2 * math.log(2 * len(ends) * comparisons / FALSE_ALARM))
    return Agreement(float(alike(*ends[0]).mean()), distance, allowed)


def alike(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which seeds have the same number, but for rounding. What is not finite is like nothing."""
    return np.abs(ours - theirs) <= ROUNDING * np.abs(ours).max()


def distance_of(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """The sum of the differences over the root of the sum of their squares; infinite if some are not finite.

    Once rounding has parted a seed, each of the two devices is as likely to be the luckier one: a difference and its
    negative have the same probability. For independent differences like that, P(distance > x) <= 2 exp(-x^2 / 2)
    whatever their size (Hoeffding's inequality for random signs), so no normal distribution is assumed.

    >>> distance_of(np.ones(4), np.ones(4)), distance_of(np.ones(100), np.ones(100) + 0.5)
    (0.0, 10.0)
    """
    apart = np.where(alike(ours, theirs), 0.0, theirs - ours)
    if not np.all(np.isfinite(apart)):
        return math.inf
    squares = float(np.sum(apart**2))
    return abs(float(np.sum(apart))) / math.sqrt(squares) if squares else 0.0


def random_numbers(seed: int) -> dict[str, NDArray]:
    """Of every kind that a simulation draws."""
    with jax.enable_x64(True):
        key = simulation_key(seed)
        drawn = {
            "bits": jax.random.bits(key, (DRAWS,)),
            "uniform": jax.random.uniform(key, (DRAWS,)),
            "integers": jax.random.randint(key, (DRAWS,), 0, 1000),
            "order": jax.random.permutation(key, DRAWS),
            "normal": normals(key, (DRAWS,)),
            "laplace": jax.random.laplace(key, (DRAWS,)),
            "gamma": gammas(key, np.geomspace(0.1, 100.0, DRAWS)),
        }
        return {name: np.asarray(numbers) for name, numbers in drawn.items()}


def unlike(one: dict[str, NDArray], other: dict[str, NDArray]) -> list[str]:
    """The kinds of random numbers that are not the same.

    >>> unlike(random_numbers(0), random_numbers(0)), unlike(random_numbers(0), random_numbers(1))[0]
    ([], 'bits')
    """
    same = {name: np.isclose(one[name], other[name], rtol=0.0 if name in EXACT else ROUNDING, atol=0.0) for name in one}
    return [name for name, equal in same.items() if equal.mean() < (1.0 if name in EXACT else 0.999)]
