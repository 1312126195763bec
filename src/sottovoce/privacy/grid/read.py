"""How the server reads numbers on a grid, the same for Gaussian and Laplace noise."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.domains import Domain, size
from sottovoce.privacy.grid.delta import RESOLUTION
from sottovoce.protocol.errors import BrokenPromise, WireError

IMPOSSIBLE = 1e-15
"""The chance that an honest report is refused because its noise is too large."""


class OnGrid(Protocol):
    """A mechanism that adds noise to each coordinate, in whole steps of scale / RESOLUTION."""

    @property
    def domain(self) -> Domain: ...

    @property
    def scales(self) -> tuple[float, ...]: ...

    def farthest(self, surprise: float) -> float:
        """No noise is farther out than so many scales, but for a probability of 2 exp(-surprise)."""
        ...


def scale_of_each(mechanism: OnGrid) -> NDArray[np.float64]:
    """The scale of each coordinate of the message."""
    return np.repeat(mechanism.scales, mechanism.domain.blocks)


@lru_cache(maxsize=512)
def grid_reach(mechanism: OnGrid) -> NDArray[np.int64]:
    """The largest step of the grid that is taken, for each coordinate: the message's largest and all honest noise.

    Noise farther out has a probability of at most IMPOSSIBLE for the whole report. A message's coordinate is no larger
    than the radius.
    """
    noise = mechanism.farthest(math.log(2 * size(mechanism.domain) / IMPOSSIBLE))
    steps = np.ceil((mechanism.domain.radius / scale_of_each(mechanism) + noise) * RESOLUTION)
    return np.minimum(steps, 2.0**62).astype(np.int64)


def check(mechanism: OnGrid, report: bytes) -> None:
    """Refuse more noise than devices draw, so that no report says more than `grid_reach`."""
    grid, reach = np.frombuffer(report, ">i8"), grid_reach(mechanism)
    if np.any(grid > reach) or np.any(grid < -reach):
        raise WireError("this report has more noise than any device draws")


def decode(mechanism: OnGrid, reports: Sequence[bytes]) -> NDArray[np.float64]:
    grid = np.frombuffer(b"".join(reports), ">i8").reshape(len(reports), -1)
    return grid / RESOLUTION * scale_of_each(mechanism)


def verify_scales(mechanism: OnGrid) -> None:
    """Refuse whatever is not one positive number for each block."""
    scales = mechanism.scales
    numbers = isinstance(scales, tuple) and all(isinstance(s, int | float) and 0 < s < math.inf for s in scales)
    if not numbers or len(scales) != len(mechanism.domain.blocks):
        raise BrokenPromise(f"one positive scale per block is needed, got {scales}")
