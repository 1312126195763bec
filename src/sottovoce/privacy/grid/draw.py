"""Noise on a grid, drawn on the device.

The samplers follow Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (2020), algorithms 1
to 3: exact Bernoulli(exp(-x)) trials on rationals, no floating point.
"""

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.base import Entropy
from sottovoce.privacy.grid.delta import RESOLUTION
from sottovoce.privacy.grid.mechanism import OnGrid
from sottovoce.protocol.codec import pack


def draw_gaussian(mechanism: OnGrid, message: NDArray[np.float64], entropy: Entropy, coin: bytes = b"") -> bytes:
    return on_grid(mechanism, message, [discrete_gaussian(RESOLUTION, entropy) for _ in message])


def draw_laplace(mechanism: OnGrid, message: NDArray[np.float64], entropy: Entropy, coin: bytes = b"") -> bytes:
    return on_grid(mechanism, message, [discrete_laplace(RESOLUTION, entropy) for _ in message])


def on_grid(mechanism: OnGrid, message: NDArray[np.float64], noise: list[int]) -> bytes:
    """Round to the grid, add the noise, saturate at 64 bits (post-processing)."""
    grid = [round(float(m) / float(s) * RESOLUTION) for m, s in zip(message, mechanism.scale_of_each, strict=True)]
    top = 2**63 - 1
    return pack([max(-top, min(top, g + n)) for g, n in zip(grid, noise, strict=True)], 8, signed=True)


def discrete_gaussian(sigma: int, entropy: Entropy) -> int:
    """An integer with probability ~ exp(-k^2 / (2 sigma^2))."""
    scale = sigma + 1
    while True:
        draw = discrete_laplace(scale, entropy)
        distance = abs(draw) * scale - sigma * sigma
        if bernoulli_exp(distance * distance, 2 * sigma * sigma * scale * scale, entropy):
            return draw


def discrete_laplace(scale: int, entropy: Entropy) -> int:
    """An integer with probability ~ exp(-|k| / scale)."""
    while True:
        fine = entropy.below(scale)
        if not bernoulli_exp(fine, scale, entropy):
            continue
        coarse = 0
        while bernoulli_exp(1, 1, entropy):
            coarse += 1
        magnitude = fine + scale * coarse
        negative = entropy.below(2) == 1
        if negative and magnitude == 0:
            continue
        return -magnitude if negative else magnitude


def bernoulli_exp(numerator: int, denominator: int, entropy: Entropy) -> bool:
    """True with probability exp(-numerator / denominator), exactly."""
    while numerator > denominator:
        if not bernoulli_exp(1, 1, entropy):
            return False
        numerator -= denominator
    k = 1
    while entropy.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1
