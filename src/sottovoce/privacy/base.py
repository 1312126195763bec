"""What every mechanism is: frozen numbers that keep a promise, and what the server does with reports.

Drawing is apart, in the `draw` module of each mechanism's folder, because it happens on devices only.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.domains import Domain
from sottovoce.privacy.noise import Noise
from sottovoce.privacy.spent import Spent
from sottovoce.protocol.budget import Budget


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


class Mechanism(Protocol):
    """A frozen dataclass of the domain, the budget and the numbers that keep it. Its docstring is the proof."""

    @property
    def domain(self) -> Domain: ...

    @property
    def budget(self) -> Budget: ...

    @property
    def report_size(self) -> int:
        """Bytes of every report, whatever it says."""
        ...

    def verify(self) -> None:
        """Raise BrokenPromise unless the numbers keep the budget."""
        ...

    def cost(self) -> Spent:
        """What one report spends, as the accounting counts it."""
        ...

    def check(self, report: bytes) -> None:
        """Raise WireError for bytes of the right length that no device would send."""
        ...

    def decode(self, reports: Sequence[bytes]) -> NDArray[np.float64]:
        """Unbiased estimates of many messages, one a row, from checked reports."""
        ...

    def noise(self) -> Noise:
        """What a learner may know of the noise."""
        ...

    def law(self) -> Law:
        """What the simulator draws from."""
        ...
