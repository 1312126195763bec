"""What the learner hands to the web process: everything that offers, models and summaries are made from."""

from typing import Any

import msgspec

from sottovoce.protocol.contract import Contract

GRACE = 3600
"""Seconds beyond the latest honest moment in which a report is still taken."""


class PooledOffer(msgspec.Struct, frozen=True, array_like=True):
    """An offer drawn in advance: any ticket may carry it."""

    action: Any
    memo: bytes


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """One publication; MessagePack in the store."""

    model: dict[str, Any] | None = None
    offers: list[PooledOffer] = []
    done: bool = False
    recommendation: Any = None
    estimates: list[dict[str, Any]] = []
    contexts: list[bytes] = []
    """For each arm the context of a report that answers no offer; empty where the learner cannot use such reports."""


def open_seconds(contract: Contract) -> int:
    """How long after its offer an honest report may arrive: the reward's wait, the random delay, and some grace."""
    return contract.reward.wait + contract.delay + GRACE
