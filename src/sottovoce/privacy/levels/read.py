"""Levels, read on the server."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.levels.mechanism import Levels
from sottovoce.protocol.errors import WireError


def report_size(mechanism: Levels) -> int:
    return mechanism.width


def check(mechanism: Levels, report: bytes) -> None:
    """Refuse a level that there is not, so that no report says more than `levels_reach`."""
    if (level := int.from_bytes(report, "big")) >= mechanism.levels:
        raise WireError(f"this task has {mechanism.levels} levels, got level {level}")


def decode(mechanism: Levels, reports: Sequence[bytes]) -> NDArray[np.float64]:
    levels = np.array([int.from_bytes(report, "big") for report in reports], dtype=float)[:, None]
    return levels_reach(mechanism) * (2 * levels / (mechanism.levels - 1) - 1)


def levels_reach(mechanism: Levels) -> float:
    """The estimate sent for the highest level, with the message in [-1, 1]: 1 / (P(keep) - P(flip))."""
    return mechanism.total / (mechanism.keep - mechanism.flip)
