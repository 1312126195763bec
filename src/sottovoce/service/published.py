"""What the learner hands to the web process: everything that offers, models and summaries are made from."""

import hashlib
from typing import Any

import msgspec

from sottovoce.core.contract import Contract
from sottovoce.core.wire import VERSION_BYTES

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


def version_of(model: dict[str, Any]) -> str:
    """A hash of the model's numbers: a server cannot tag one person with a private model unnoticed.

    >>> version_of({"theta": [0.5, -0.25]})
    '8cf4f5ab3ba2cb5a51e9ad43f9c6d43c'
    """
    return hashlib.sha256(msgspec.json.encode(model, order="sorted")).hexdigest()[: 2 * VERSION_BYTES]


def open_seconds(contract: Contract) -> int:
    """How long after its offer an honest report may arrive: the reward's wait, the random delay, and some grace."""
    return contract.reward.wait + contract.delay + GRACE
