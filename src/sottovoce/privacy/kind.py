"""What every mechanism is: frozen numbers, and one `Kind` that says all that can be done with them, besides drawing.

Drawing is apart, in the `draw` module of each mechanism's folder, because it happens on devices only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.domains import Domain
from sottovoce.privacy.noise import Noise
from sottovoce.privacy.spent import Spent
from sottovoce.protocol.budget import Budget


class Mechanism(Protocol):
    """A promise and the numbers that keep it. Frozen, so that it can be compared and cached."""

    @property
    def domain(self) -> Domain: ...

    @property
    def budget(self) -> Budget: ...


class Random(Protocol):
    """Seeded randomness, for simulation; a device draws from `entropy`. Each value is for one draw or one split."""

    def split(self) -> tuple["Random", "Random"]: ...

    def uniforms(self, shape: tuple[int, ...]) -> Any: ...

    def normals(self, shape: tuple[int, ...]) -> Any: ...

    def laplaces(self, shape: tuple[int, ...]) -> Any: ...


class Law(Protocol):
    """The distribution of the server's estimate, given the message: for simulation only.

    A frozen dataclass of numbers. `draw` has the distribution of decode_message(mechanism, privatise(mechanism,
    message)), which the tests compare, and is written on the message's array namespace, so that NumPy and JAX run it.
    """

    def draw(self, message: Any, random: Random) -> Any: ...


def pure_cost(mechanism: Mechanism) -> Spent:
    """What one report of a pure mechanism spends: its promise."""
    return Spent(pure=((mechanism.budget.epsilon, 1),))


M = TypeVar("M")


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[M]):
    """One entry of the registry: the functions of one mechanism's folder."""

    numbers: type[M]
    """The frozen dataclass; its docstring is the proof."""
    calibrate: Callable[..., M]
    """(domain, budget) to the mechanism; where there are several formulas, (domain, budget, formula)."""
    formulas: tuple[str, ...] = ()
    verify: Callable[[M], None]
    """Raises BrokenPromise unless the numbers keep the budget."""
    cost: Callable[[M], Spent]
    """What one report spends, as the accounting counts it."""
    report_size: Callable[[M], int]
    """Bytes of every report, whatever it says."""
    check: Callable[[M, bytes], None]
    """Raises WireError for bytes of the right length that no device would send."""
    decode: Callable[[M, Sequence[bytes]], NDArray[np.float64]]
    """Unbiased estimates of many messages, one a row, from checked reports."""
    noise: Callable[[M], Noise]
    """What a learner may know of the noise."""
    law: Callable[[M], Law]
    """What the simulator draws from."""
