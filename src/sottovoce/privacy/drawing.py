"""The device side of every mechanism: integers drawn from the operating system's randomness.

`privatise` is the only function through which anything leaves a device. It refuses a message outside the domain and a
mechanism that does not keep its promise, draws once, and returns bytes of a length that depends on the task alone.
"""

import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

from sottovoce.privacy.base import Entropy, Mechanism
from sottovoce.privacy.domains import size
from sottovoce.privacy.grid.draw import draw_gaussian, draw_laplace
from sottovoce.privacy.levels.draw import draw as draw_level
from sottovoce.privacy.mechanisms import name_of, verify
from sottovoce.privacy.sphere.draw import draw as draw_candidate
from sottovoce.protocol.errors import BadInput


class SystemEntropy:
    """The operating system's randomness."""

    def below(self, bound: int) -> int:
        return secrets.randbelow(bound)

    def octets(self, count: int) -> bytes:
        return secrets.token_bytes(count)


SYSTEM: Entropy = SystemEntropy()

DRAWS: dict[str, Callable[[Any, Any, Entropy, bytes], bytes]] = {
    "levels": draw_level,
    "sphere": draw_candidate,
    "gaussian": draw_gaussian,
    "laplace": draw_laplace,
}


def privatise(mechanism: Mechanism, message: Any, entropy: Entropy = SYSTEM, coin: bytes | None = None) -> bytes:
    """One private report of one message, as bytes: the coin that it answers, if any, and what was drawn.

    A live device gets the coin from its permit (`protocol.permits`); without one it is tossed here, before the message
    is looked at.

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
    if mechanism.coin_size:
        coin = entropy.octets(mechanism.coin_size) if coin is None else coin[: mechanism.coin_size]
    else:
        coin = b""
    return coin + DRAWS[name_of(mechanism)](mechanism, message, entropy, coin)
