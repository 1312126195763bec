"""The server side of every mechanism: a report in, an unbiased estimate out, and what its noise is like."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy import codebook
from sottovoce.privacy.calibration import levels_variance, sphere_law
from sottovoce.privacy.domains import Domain, Interval, Moments, size
from sottovoce.privacy.mechanisms import RESOLUTION, Gaussian, Laplace, Levels, Mechanism, Sphere
from sottovoce.privacy.noise import Noise
from sottovoce.protocol.errors import WireError

IMPOSSIBLE = 1e-15
"""The chance that an honest report is refused because its noise is too large."""


def decode(mechanism: Mechanism, report: bytes) -> Any:
    """What the server learns from one report: an unbiased estimate, in the domain's natural units.

    >>> from sottovoce import Budget, calibrate
    >>> mechanism = calibrate("levels", Interval(0.0, 1.0), Budget(1.0))
    >>> [round(float(decode(mechanism, report)), 3) for report in (bytes([0]), bytes([1]))]
    [-0.582, 1.582]
    """
    return mechanism.domain.extract(decode_message(mechanism, report))


def decode_message(mechanism: Mechanism, report: bytes) -> NDArray[np.float64]:
    """The unbiased estimate of the message itself."""
    check(mechanism, report)
    return decode_messages(mechanism, [report])[0]


def check(mechanism: Mechanism, report: bytes) -> None:
    """Refuse bytes that no device would send: wrong length, a level or candidate that there is not, too much noise.

    So a forged report says no more than an honest one could: see `levels_reach`, `sphere_reach` and `grid_reach`.
    """
    if len(report) != report_size(mechanism):
        raise WireError(f"this task's reports have {report_size(mechanism)} bytes, got {len(report)}")
    match mechanism:
        case Levels(levels=levels):
            if (level := int.from_bytes(report, "big")) >= levels:
                raise WireError(f"this task has {levels} levels, got level {level}")
        case Sphere(candidates=count):
            if (index := int.from_bytes(report[codebook.SEED_BYTES :], "big")) >= count:
                raise WireError(f"this task's codebook has {count} candidates, got index {index}")
        case Gaussian() | Laplace():
            grid, reach = np.frombuffer(report, ">i8"), grid_reach(mechanism)
            if np.any(grid > reach) or np.any(grid < -reach):
                raise WireError("this report has more noise than any device draws")


def decode_messages(mechanism: Mechanism, reports: Sequence[bytes]) -> NDArray[np.float64]:
    """The estimates of many messages, one a row; the reports were checked before."""
    match mechanism:
        case Levels():
            levels = np.array([int.from_bytes(report, "big") for report in reports], dtype=float)[:, None]
            return levels_reach(mechanism) * (2 * levels / (mechanism.levels - 1) - 1)
        case Sphere():
            return _decode_sphere(mechanism, reports)
        case Gaussian() | Laplace():
            grid = np.frombuffer(b"".join(reports), ">i8").reshape(len(reports), -1)
            return grid / RESOLUTION * np.repeat(mechanism.scales, mechanism.domain.blocks)


def report_size(mechanism: Mechanism) -> int:
    """Bytes of every report of this mechanism, whatever it says.

    >>> from sottovoce import Ball, Budget, calibrate
    >>> report_size(calibrate("sphere", Ball(100), Budget(1.0)))
    14
    """
    match mechanism:
        case Levels():
            return mechanism.width
        case Sphere():
            return codebook.SEED_BYTES + 2
        case Gaussian() | Laplace():
            return 8 * size(mechanism.domain)


def levels_reach(mechanism: Levels) -> float:
    """The estimate sent for the highest level, with the message in [-1, 1]: 1 / (P(keep) - P(flip))."""
    total = mechanism.keep + (mechanism.levels - 1) * mechanism.flip
    return total / (mechanism.keep - mechanism.flip)


def sphere_reach(mechanism: Sphere) -> float:
    """No estimate is longer than this, whatever the seed and the index."""
    return mechanism.domain.radius / mechanism.mean


@lru_cache(maxsize=512)
def grid_reach(mechanism: Gaussian | Laplace) -> NDArray[np.int64]:
    """The largest step of the grid that is taken, for each coordinate: the message's largest and all honest noise.

    Noise farther out has a probability of at most IMPOSSIBLE for the whole report: a coordinate exceeds t scales with
    probability at most 2 exp(-t^2 / 2) for the discrete Gaussian (sub-Gaussian like the continuous one: Canonne,
    Kamath, Steinke 2020) and 2 exp(-t) for the discrete Laplace. A message's coordinate is no larger than the radius.
    """
    surprise = math.log(2 * size(mechanism.domain) / IMPOSSIBLE)
    noise = math.sqrt(2 * surprise) if isinstance(mechanism, Gaussian) else surprise
    scales = np.repeat(mechanism.scales, mechanism.domain.blocks)
    steps = np.ceil((mechanism.domain.radius / scales + noise) * RESOLUTION)
    return np.minimum(steps, 2.0**62).astype(np.int64)


def _decode_sphere(mechanism: Sphere, reports: Sequence[bytes]) -> NDArray[np.float64]:
    seeds = b"".join(report[: codebook.SEED_BYTES] for report in reports)
    indices = np.array([int.from_bytes(report[codebook.SEED_BYTES :], "big") for report in reports])
    vectors = codebook.candidates(seeds, indices, size(mechanism.domain) + 1).astype(float)
    lengths = np.sqrt(np.sum(vectors * vectors, axis=1, keepdims=True))
    return vectors[:, :-1] * (sphere_reach(mechanism) / lengths)


def noise_of(mechanism: Mechanism) -> Noise:
    """What a learner may know of this mechanism's noise.

    >>> from sottovoce import Budget, calibrate
    >>> round(noise_of(calibrate("levels", Interval(0.0, 1.0), Budget(1.0))).bound, 3)
    1.082
    """
    domain = mechanism.domain
    unit = domain.half if isinstance(domain, Interval) else 1.0
    match mechanism:
        case Levels():
            spread = math.sqrt(levels_variance(mechanism.levels, mechanism.keep / mechanism.flip)) * unit
            bound = levels_reach(mechanism) * unit
            return Noise(spread**2, bound, (spread,), proxy=bound**2, levels=mechanism.levels)
        case Sphere():
            deviations = (_sphere_deviation(mechanism) * unit,) * len(domain.blocks)
        case Gaussian():
            deviations = tuple(scale * unit for scale in mechanism.scales)
        case Laplace():
            deviations = tuple(scale * math.sqrt(2) * unit for scale in mechanism.scales)
    natural = _natural(domain, deviations)
    variance = max(natural) ** 2
    tail = natural[0] / math.sqrt(2) if isinstance(mechanism, Laplace) else 0.0
    return Noise(variance, math.inf, natural, proxy=unit**2 + variance, tail=tail)


def _sphere_deviation(mechanism: Sphere) -> float:
    """The larger of a coordinate's deviation along the message and across it."""
    dimension = size(mechanism.domain) + 1
    inner, mass, in_cap = sphere_law(dimension, mechanism.candidates, mechanism.cap)
    law = mass * (in_cap * mechanism.inside + (1 - in_cap) * mechanism.outside)
    second = float(np.sum(inner**2 * law) / np.sum(law))
    variance = max(second - mechanism.mean**2, (1 - second) / (dimension - 1))
    return math.sqrt(variance) * mechanism.domain.radius / mechanism.mean


def _natural(domain: Domain, deviations: tuple[float, ...]) -> tuple[float, ...]:
    """Deviations of the message's blocks in the units of `domain.extract`."""
    if isinstance(domain, Moments):
        diagonal, upper, vector = deviations
        return diagonal, upper / math.sqrt(2), vector * domain.reward_bound / domain.weight
    return deviations
