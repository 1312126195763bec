"""A candidate, drawn on the device."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.base import Entropy
from sottovoce.privacy.sphere import codebook
from sottovoce.privacy.sphere.mechanism import Sphere
from sottovoce.protocol.codec import pack


def draw(mechanism: Sphere, message: NDArray[np.float64], entropy: Entropy, coin: bytes) -> bytes:
    """The coin was tossed whatever the message; draw one index by integer weights."""
    order = codebook.ranking(coin, codebook.lift(message, mechanism.domain.radius), mechanism.candidates)
    return pack([int(order[_rank(mechanism, entropy)])], mechanism.report_size)


def _rank(mechanism: Sphere, entropy: Entropy) -> int:
    weight_of_cap = mechanism.cap * mechanism.inside
    draw = entropy.below(mechanism.total)
    if draw < weight_of_cap:
        return draw // mechanism.inside
    return mechanism.cap + (draw - weight_of_cap) // mechanism.outside
