"""What every domain has, and the checks that domains share.

A message is a flat vector made of blocks; `l2(scales)` and `l1(scales)` are the largest distance between two messages
of the domain after each block is divided by its scale. That one definition serves every mechanism, also those with
different noise per block.

`embed`, which each domain has with its own arguments, is written on the array namespace of its input: NumPy on a
device, where bad input is refused, and traced by JAX in the simulator, the same text.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from sottovoce.protocol.errors import BadInput, ConfigurationError

ROUNDING = 1e-9
"""How far float arithmetic may carry a message out of its domain; calibration leaves more room than that."""


class Domain(Protocol):
    """The set of messages a person may send.

    - `blocks`: the lengths of the message's blocks.
    - `radius`: no message is longer.
    - `extract`: an estimate of the message as what a learner wants, in natural units.
    - `natural`: deviations of the message's blocks, in the units of `extract`.
    - `contains`: whether `embed` could have formed this message.
    """

    @property
    def blocks(self) -> tuple[int, ...]: ...
    @property
    def radius(self) -> float: ...
    def l2(self, scales: Sequence[float] = (1.0, 1.0, 1.0)) -> float: ...
    def l1(self, scales: Sequence[float] = (1.0, 1.0, 1.0)) -> float: ...
    def extract(self, message: Any) -> Any: ...
    def natural(self, deviations: tuple[float, ...]) -> tuple[float, ...]: ...
    def contains(self, message: Any) -> bool: ...


def size(domain: Domain) -> int:
    """The length of a message."""
    return sum(domain.blocks)


def shorten(xp: Any, vector: Any, bound: float) -> Any:
    """The vector itself, or the point of the ball in its direction.

    >>> shorten(np, np.array([6.0, 8.0]), 5.0)
    array([3., 4.])
    """
    norm = xp.sqrt(xp.sum(vector * vector))
    return vector * xp.minimum(1.0, bound / xp.maximum(norm, 1e-300))


def unit(xp: Any, vector: Any) -> Any:
    """The direction of a vector: it has the length 1, or 0 where the vector is 0.

    >>> unit(np, np.array([3e-200, 4e-200]))
    array([0.6, 0.8])
    """
    scaled = vector / xp.maximum(xp.max(xp.abs(vector)), 1e-300)  # squares of short vectors would be zero
    return scaled / xp.maximum(xp.sqrt(xp.sum(scaled * scaled)), 1e-7)  # XLA may divide by the product of both numbers


def admit(raw: Any, shape: tuple[int, ...], name: str) -> tuple[Any, Any]:
    """The array namespace and the array; real (untraced) input must be finite and of the declared shape."""
    if hasattr(raw, "aval"):  # a JAX array, traced or not: the simulator's own worlds
        return raw.__array_namespace__(), raw
    try:
        given = np.asarray(raw)
    except ValueError as error:  # rows of different lengths
        raise BadInput(f"{name} must be numbers of shape {shape}, got {type(raw).__name__}") from error
    if given.dtype.kind not in "biuf":  # text, dates, complex numbers, whole numbers beyond 64 bits
        raise BadInput(f"{name} must be numbers, got {type(raw).__name__}")
    array = given.astype(float)
    if array.shape != shape:
        raise BadInput(f"{name} must have shape {shape}, got {array.shape}")
    if not np.all(np.isfinite(array)):
        raise BadInput(f"{name} must be finite, got NaN or infinity")
    # Beyond this squares overflow. Such a vector is cut to the ball whatever its direction.
    return np, np.clip(array, -1e150, 1e150)


def check_dimension(dimension: int) -> None:
    if not (isinstance(dimension, int) and dimension >= 1):
        raise ConfigurationError(f"dimension must be a positive whole number, got {dimension!r}")
