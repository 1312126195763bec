"""Numbers on a grid, read on the server."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.domains import size
from sottovoce.privacy.grid.mechanism import RESOLUTION, Gaussian, Laplace, scale_of_each
from sottovoce.protocol.errors import WireError

IMPOSSIBLE = 1e-15
"""The chance that an honest report is refused because its noise is too large."""


def report_size(mechanism: Gaussian | Laplace) -> int:
    return 8 * size(mechanism.domain)


def check(mechanism: Gaussian | Laplace, report: bytes) -> None:
    """Refuse more noise than devices draw, so that no report says more than `grid_reach`."""
    grid, reach = np.frombuffer(report, ">i8"), grid_reach(mechanism)
    if np.any(grid > reach) or np.any(grid < -reach):
        raise WireError("this report has more noise than any device draws")


def decode(mechanism: Gaussian | Laplace, reports: Sequence[bytes]) -> NDArray[np.float64]:
    grid = np.frombuffer(b"".join(reports), ">i8").reshape(len(reports), -1)
    return grid / RESOLUTION * scale_of_each(mechanism)


@lru_cache(maxsize=512)
def grid_reach(mechanism: Gaussian | Laplace) -> NDArray[np.int64]:
    """The largest step of the grid that is taken, for each coordinate: the message's largest and all honest noise.

    Noise farther out has a probability of at most IMPOSSIBLE for the whole report. A message's coordinate is no larger
    than the radius.
    """
    noise = mechanism.farthest(math.log(2 * size(mechanism.domain) / IMPOSSIBLE))
    steps = np.ceil((mechanism.domain.radius / scale_of_each(mechanism) + noise) * RESOLUTION)
    return np.minimum(steps, 2.0**62).astype(np.int64)
