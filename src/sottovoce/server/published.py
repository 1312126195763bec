"""What the learner hands to the web process: everything that offers, models and summaries are made from."""

from typing import Any

import msgspec
import numpy as np

from sottovoce.protocol.contract import Contract

GRACE = 3600
"""Seconds beyond the latest honest moment in which a report is still taken."""


class PooledOffer(msgspec.Struct, frozen=True, array_like=True):
    """An offer drawn in advance: any ticket may carry it."""

    action: Any
    memo: bytes


class UnitEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """What private reports say of one arm, on the scale of messages."""

    reports: float
    mean: float | None
    error: float | None


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """One publication; MessagePack in the store."""

    model: bytes = b""
    """As it is served; empty for a task with tickets."""
    offers: list[PooledOffer] = []
    done: bool = False
    recommendation: Any = None
    estimates: list[UnitEstimate] = []
    contexts: list[bytes] = []
    """For each arm the context of a report that answers no offer; empty where the learner cannot use such reports."""


def recommended(found: Any) -> Any:
    """A recommendation as it travels: an arm, the numbers of several arms, or a point.

    >>> recommended(np.array([True, False, True])), recommended(np.int64(2))
    ([0, 2], 2)
    """
    found = np.asarray(found)
    return np.flatnonzero(found).tolist() if found.dtype == bool else found.tolist()


def open_seconds(contract: Contract) -> int:
    """How long after its offer an honest report may arrive: the reward's wait, the random delay, and some grace."""
    return contract.reward.wait + contract.delay + GRACE
