"""The public contract of a live task: what a device judges before it answers.

`catalogue.resolve` makes it from a task file: everything is resolved to numbers, the gates' integers included, so that
a device in any language checks and computes, and chooses nothing. What may change while a task lives (its mode, whether
it is open) is `Status`, outside the contract.
"""

import datetime
import hashlib
import re
from typing import Any, Literal

import msgspec

from sottovoce.catalogue.task import Task
from sottovoce.protocol.fields import Field
from sottovoce.protocol.strict import Strict

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
DAY = 86400


class Gate(Strict, frozen=True, kw_only=True):
    """One mechanism that a device may answer through: its budget and its integers (see `privacy.mechanisms`)."""

    epsilon: float
    delta: float
    numbers: dict[str, int | float | str | tuple[float, ...]]


class RewardTerms(Strict, frozen=True, kw_only=True):
    """The declared range, the default, and after how many seconds it is reported."""

    low: float
    high: float
    default: float
    wait: int


class Limit(Strict, frozen=True, kw_only=True):
    """What the task will ever ask of one device; the owner of the device may allow less."""

    lifetime: float
    lifetime_delta: float
    window: float
    window_days: int


class Contract(Strict, frozen=True, kw_only=True):
    """All that a device must know to answer, and a privacy officer to judge."""

    id: str
    title: str
    offers: Literal["model", "tickets"]
    """Where the device gets what it chooses by: one model for everybody, or a ticket from the server."""
    task: Task
    actions: tuple[str, ...]
    candidates: int
    fields: dict[str, Field]
    gates: tuple[Gate, ...]
    """The first is the task's budget; the others are quieter."""
    limit: Limit
    reward: RewardTerms
    publish_every: int
    delay: int
    expires: datetime.date
    retention: int

    def digest(self) -> str:
        """A hash of the whole contract: a changed contract is another contract."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()


class Status(Strict, frozen=True, kw_only=True):
    """What may change while a task lives."""

    mode: Literal["live", "apprentice"] = "live"
    paused: bool = False


def features_of(terms: Any) -> int:
    """The length of a feature vector: a constant and the fields, once for every named action."""
    width = 1 + sum(field.width for field in terms.fields.values())
    return width * max(len(terms.actions), 1)
