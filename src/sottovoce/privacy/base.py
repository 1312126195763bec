"""What every mechanism is: frozen numbers that keep a promise, and what the server does with reports.

Drawing is apart, in the `draw` module of each mechanism's folder, because it happens on devices only. At the end: the
two integer weights of randomised response, `more` for a true answer and `less` for another.
"""

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.domains import Domain
from sottovoce.privacy.noise import Noise
from sottovoce.privacy.spent import Spent
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import BrokenPromise, ConfigurationError


class Entropy(Protocol):
    """A device's randomness: integers in [0, bound) and bytes, uniform. Outside tests it is `drawing.SYSTEM`."""

    def below(self, bound: int) -> int: ...
    def octets(self, count: int) -> bytes: ...


class Random(Protocol):
    """Seeded randomness, for simulation only. Each value is for one draw or one split."""

    def split(self) -> tuple["Random", "Random"]: ...
    def uniforms(self, shape: tuple[int, ...]) -> Any: ...
    def normals(self, shape: tuple[int, ...]) -> Any: ...
    def laplaces(self, shape: tuple[int, ...]) -> Any: ...


class Law(Protocol):
    """The distribution of the server's estimate, given the message: for simulation only.

    A frozen dataclass of numbers. `draw` has the distribution of the estimate that the mechanism's `decode` makes of a
    report, which the tests compare, and is written on the message's array namespace, so that NumPy and JAX run it.
    """

    def draw(self, message: Any, random: Random) -> Any: ...


class Mechanism(Protocol):
    """A frozen dataclass of the domain, the budget and the numbers that keep it. Its docstring is the proof.

    - `coin_size`: bytes of public randomness that a report answers; 0 where it needs none.
    - `report_size`: bytes that the device adds, whatever it says. A whole report is the coin and these.
    - `verify`: raise BrokenPromise unless the numbers keep the budget.
    - `cost`: what one report spends, as the accounting counts it.
    - `check`: raise WireError for bytes of the right length that no device would send.
    - `decode`: unbiased estimates of many messages, one a row, from checked reports.
    - `noise`: what a learner may know of the noise.
    - `law`: what the simulator draws from.
    """

    @property
    def domain(self) -> Domain: ...
    @property
    def budget(self) -> Budget: ...
    @property
    def coin_size(self) -> int: ...
    @property
    def report_size(self) -> int: ...
    def verify(self) -> None: ...
    def cost(self) -> Spent: ...
    def check(self, report: bytes) -> None: ...
    def decode(self, reports: Sequence[bytes]) -> NDArray[np.float64]: ...
    def noise(self) -> Noise: ...
    def law(self) -> Law: ...


def weights(epsilon: float) -> tuple[int, int]:
    """Integers with more/less just below e^epsilon. The 2^-50 is wider than the error of exp.

    >>> weights(1.0)
    (2850325, 1048576)
    """
    less = 2**20 if epsilon <= 8 else 2**10
    more = math.floor(less * math.exp(min(epsilon, 700.0)) * (1 - 2**-50))
    if more <= less:
        raise ConfigurationError(f"epsilon {epsilon:g} is too small to say anything; use at least 1e-5")
    return more, less


def verify_weights(more: int, less: int, epsilon: float, total: int) -> None:
    """Refuse weights whose ratio is above e^epsilon (1 - 2^-51), compared in whole numbers, or whose sum is too large.

    A draw below `total` must be exact in every language, and some have no whole numbers beyond 2^53.
    """
    top, bottom = math.exp(epsilon).as_integer_ratio()
    if not 1 <= less <= more or more * bottom * 2**51 > less * top * (2**51 - 1) or total >= 2**53:
        raise BrokenPromise(f"weights {more}:{less} do not keep epsilon {epsilon:g}")


def verify_whole(*numbers: int) -> None:
    """Refuse whatever is not an integer."""
    if not all(type(number) is int for number in numbers):
        raise BrokenPromise(f"levels, candidates and weights must be whole numbers, got {numbers}")
