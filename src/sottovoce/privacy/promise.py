"""The promise, recomputed from the numbers that a mechanism carries.

The device calls `verify` before every report, so a contract that promises more than its integers keep is refused,
whoever wrote it.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sottovoce.privacy.calibration import discrete_delta, gaussian_delta, gaussian_distance
from sottovoce.privacy.domains import Domain, Interval, size
from sottovoce.privacy.mechanisms import MECHANISMS, RESOLUTION, Gaussian, Laplace, Levels, Mechanism, Sphere
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import BrokenPromise, UnknownName

LARGEST_EPSILON = 12.0
"""Above it one report protects nobody; a device refuses."""

LARGEST_CODEBOOK = 2**24
"""candidates * coordinates: what a contract may ask a device to compute."""


def true_delta(mechanism: Gaussian) -> float:
    """The delta that this Gaussian really gives at its promised epsilon."""
    distance = gaussian_distance(mechanism)
    return discrete_delta(
        lambda epsilon: gaussian_delta(epsilon, distance), mechanism.budget.epsilon, size(mechanism.domain)
    )


@lru_cache(maxsize=1024)
def verify(mechanism: Mechanism) -> None:
    """Raise BrokenPromise unless the mechanism's own numbers keep its budget.

    >>> from sottovoce import Budget, calibrate
    >>> verify(calibrate("gaussian", Interval(-1, 1), Budget(20.0, 1e-5), "classical"))
    Traceback (most recent call last):
        ...
    sottovoce.protocol.errors.BrokenPromise: epsilon 20 is above 12, where one report protects nobody: refused
    """
    epsilon = mechanism.budget.epsilon
    if not epsilon > 0:
        raise BrokenPromise(f"epsilon must be positive, got {epsilon!r}")
    if epsilon > LARGEST_EPSILON:
        raise BrokenPromise(
            f"epsilon {epsilon:g} is above {LARGEST_EPSILON:g}, where one report protects nobody: refused"
        )
    match mechanism:
        case Levels(domain=domain, levels=count, keep=more, flip=less):
            if not isinstance(domain, Interval):
                raise BrokenPromise(f"levels answer for one number in an interval, got {domain}")
            _verify_whole(count, more, less)
            _verify_ratio(more, less, epsilon)
            if not 2 <= count <= 2**16:
                raise BrokenPromise(f"levels must be between 2 and 65536, got {count}")
        case Sphere(candidates=count, cap=cap, inside=more, outside=less):
            _verify_whole(count, cap, more, less)
            _verify_ratio(more, less, epsilon)
            if not 1 <= cap < count <= 2**16 or count * (size(mechanism.domain) + 1) > LARGEST_CODEBOOK:
                raise BrokenPromise(f"a codebook of {count} candidates with a cap of {cap} is not one we compute")
        case Gaussian():
            _verify_scales(mechanism)
            if not 0 < mechanism.budget.delta < 1:
                raise BrokenPromise(f"Gaussian noise needs a delta between 0 and 1, got {mechanism.budget.delta!r}")
            delta = true_delta(mechanism)
            if delta > mechanism.budget.delta * (1 + 1e-9):
                raise BrokenPromise(
                    f"formula {mechanism.formula!r} promises delta {mechanism.budget.delta:g} at epsilon {epsilon:g} "
                    f"but gives {delta:.3g}; use formula 'analytic'"
                )
        case Laplace():
            _verify_scales(mechanism)
            spent = mechanism.domain.l1(mechanism.scales) + 2 * size(mechanism.domain) / RESOLUTION
            if spent > epsilon * (1 + 1e-12):
                raise BrokenPromise(f"Laplace noise promises epsilon {epsilon:g} but gives {spent:.6g}")


def _verify_ratio(more: int, less: int, epsilon: float) -> None:
    if not 1 <= less <= more or Fraction(more, less) > Fraction(math.exp(epsilon)) * (1 - Fraction(1, 2**51)):
        raise BrokenPromise(f"weights {more}:{less} do not keep epsilon {epsilon:g}")


def _verify_whole(*numbers: int) -> None:
    if not all(type(number) is int for number in numbers):
        raise BrokenPromise(f"levels, candidates and weights must be whole numbers, got {numbers}")


def _verify_scales(mechanism: Gaussian | Laplace) -> None:
    scales = mechanism.scales
    if len(scales) != len(mechanism.domain.blocks) or not all(math.isfinite(s) and s > 0 for s in scales):
        raise BrokenPromise(f"one positive scale per block is needed, got {scales}")


def mechanism_from(name: str, domain: Domain, budget: Budget, numbers: Mapping[str, Any]) -> Mechanism:
    """The mechanism that a contract describes, verified: its numbers keep the budget, or it is refused."""
    if name not in MECHANISMS:
        raise UnknownName("mechanism", name, MECHANISMS)
    try:
        mechanism = MECHANISMS[name](domain, budget, **numbers)
    except TypeError as error:
        raise BrokenPromise(f"the numbers {sorted(numbers)} do not describe {name}") from error
    verify(mechanism)
    return mechanism
