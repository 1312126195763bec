"""The device side of every mechanism: integers drawn from the operating system's randomness. The gate.

`privatise` is the only function through which anything leaves a device. It refuses a message outside the domain and a
mechanism that does not keep its promise, draws once, and returns bytes of a length that depends on the task alone.

The samplers of the discrete Gaussian and Laplace follow Canonne, Kamath and Steinke, "The discrete Gaussian for
differential privacy" (2020), algorithms 1 to 3: exact Bernoulli(exp(-x)) trials on rationals, no floating point.
"""

import secrets
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy import codebook
from sottovoce.privacy.domains import size
from sottovoce.privacy.mechanisms import RESOLUTION, Gaussian, Laplace, Levels, Mechanism, Sphere
from sottovoce.privacy.promise import verify
from sottovoce.protocol.codec import pack
from sottovoce.protocol.errors import BadInput


class Entropy(Protocol):
    """A source of randomness. Outside tests it is the operating system."""

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound)."""
        ...

    def octets(self, count: int) -> bytes:
        """Uniform bytes."""
        ...


class SystemEntropy:
    """The operating system's randomness."""

    def below(self, bound: int) -> int:
        return secrets.randbelow(bound)

    def octets(self, count: int) -> bytes:
        return secrets.token_bytes(count)


SYSTEM: Entropy = SystemEntropy()


def privatise(mechanism: Mechanism, message: Any, entropy: Entropy = SYSTEM) -> bytes:
    """One private report of one message, as bytes.

    >>> from sottovoce import Budget, Interval, calibrate
    >>> domain = Interval(0.0, 1.0)
    >>> len(privatise(calibrate("levels", domain, Budget(1.0)), domain.embed(0.3)))
    1
    """
    verify(mechanism)
    message = np.asarray(message, dtype=float)
    if message.shape != (size(mechanism.domain),):
        raise BadInput(f"the message must have {size(mechanism.domain)} numbers, got shape {message.shape}")
    if not mechanism.domain.contains(message):
        raise BadInput(f"the message is outside {mechanism.domain}; form it with that domain's embed")
    match mechanism:
        case Levels():
            return pack([_level(mechanism, float(message[0]), entropy)], mechanism.width)
        case Sphere():
            return _sphere(mechanism, message, entropy)
        case Gaussian():
            return _on_grid(mechanism, message, [_discrete_gaussian(RESOLUTION, entropy) for _ in message])
        case Laplace():
            return _on_grid(mechanism, message, [_discrete_laplace(RESOLUTION, entropy) for _ in message])


def _level(mechanism: Levels, position: float, entropy: Entropy) -> int:
    """Round at random to a neighbouring level, then answer truthfully or not."""
    resolution = 2**40
    last = mechanism.levels - 1
    place = min(last * resolution, max(0, round((position + 1) / 2 * last * resolution)))
    level, rest = divmod(place, resolution)
    level += entropy.below(resolution) < rest
    draw = entropy.below(mechanism.keep + last * mechanism.flip)
    if draw < mechanism.keep:
        return level
    other = (draw - mechanism.keep) // mechanism.flip
    return other + (other >= level)


def _sphere(mechanism: Sphere, message: NDArray[np.float64], entropy: Entropy) -> bytes:
    """Draw the seed first, whatever the message; then one index by integer weights."""
    seed = entropy.octets(codebook.SEED_BYTES)
    order = codebook.ranking(seed, codebook.lift(message, mechanism.domain.radius), mechanism.candidates)
    weight_of_cap = mechanism.cap * mechanism.inside
    draw = entropy.below(weight_of_cap + (mechanism.candidates - mechanism.cap) * mechanism.outside)
    if draw < weight_of_cap:
        place = draw // mechanism.inside
    else:
        place = mechanism.cap + (draw - weight_of_cap) // mechanism.outside
    return seed + pack([int(order[place])], 2)


def _on_grid(mechanism: Gaussian | Laplace, message: NDArray[np.float64], noise: list[int]) -> bytes:
    """Round to the grid, add the noise, saturate at 64 bits (post-processing)."""
    scales = np.repeat(mechanism.scales, mechanism.domain.blocks)
    grid = [round(float(m) / float(s) * RESOLUTION) for m, s in zip(message, scales, strict=True)]
    top = 2**63 - 1
    return pack([max(-top, min(top, g + n)) for g, n in zip(grid, noise, strict=True)], 8, signed=True)


def _bernoulli_exp(numerator: int, denominator: int, entropy: Entropy) -> bool:
    """True with probability exp(-numerator / denominator), exactly."""
    while numerator > denominator:
        if not _bernoulli_exp(1, 1, entropy):
            return False
        numerator -= denominator
    k = 1
    while entropy.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1


def _discrete_laplace(scale: int, entropy: Entropy) -> int:
    """An integer with probability ~ exp(-|k| / scale)."""
    while True:
        fine = entropy.below(scale)
        if not _bernoulli_exp(fine, scale, entropy):
            continue
        coarse = 0
        while _bernoulli_exp(1, 1, entropy):
            coarse += 1
        magnitude = fine + scale * coarse
        negative = entropy.below(2) == 1
        if negative and magnitude == 0:
            continue
        return -magnitude if negative else magnitude


def _discrete_gaussian(sigma: int, entropy: Entropy) -> int:
    """An integer with probability ~ exp(-k^2 / (2 sigma^2))."""
    scale = sigma + 1
    while True:
        draw = _discrete_laplace(scale, entropy)
        distance = abs(draw) * scale - sigma * sigma
        if _bernoulli_exp(distance * distance, 2 * sigma * sigma * scale * scale, entropy):
            return draw
