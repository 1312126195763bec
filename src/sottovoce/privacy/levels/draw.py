"""A level, drawn on the device."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.base import Entropy
from sottovoce.privacy.levels.mechanism import Levels
from sottovoce.protocol.codec import pack

RESOLUTION = 2**40
"""Places between two neighbouring levels; the rounding of a place costs accuracy, never privacy."""


def draw(mechanism: Levels, message: NDArray[np.float64], entropy: Entropy, coin: bytes = b"") -> bytes:
    """Round at random to a neighbouring level, then answer truthfully or not."""
    last = mechanism.levels - 1
    place = min(last * RESOLUTION, max(0, round((float(message[0]) + 1) / 2 * last * RESOLUTION)))
    level, rest = divmod(place, RESOLUTION)
    level += entropy.below(RESOLUTION) < rest
    return pack([_answer(mechanism, level, entropy)], mechanism.report_size)


def _answer(mechanism: Levels, level: int, entropy: Entropy) -> int:
    draw = entropy.below(mechanism.total)
    if draw < mechanism.keep:
        return level
    other = (draw - mechanism.keep) // mechanism.flip
    return other + (other >= level)
