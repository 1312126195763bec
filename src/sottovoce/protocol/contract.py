"""The public contract of a live task: what a device judges before it answers, and a privacy officer reads.

It has two parts. Everything but `learning` is what a device must know: it computes with these numbers and chooses
nothing. `learning` is for the server, and for whoever wants to judge it; a device hashes it and does not read it, so a
learner that is newer than the device changes nothing for the device.

A contract is bytes: the server makes them once, keeps them and serves them. Its digest is the SHA-256 of these bytes.
What may change while a task lives (its mode, whether it is open) is `wire.TaskStatus`, outside the contract.
"""

import datetime
import hashlib
import re
from typing import Any

import msgspec
import numpy as np

from sottovoce.protocol.errors import WireError
from sottovoce.protocol.fields import Field, width_of
from sottovoce.protocol.links import Link
from sottovoce.protocol.strict import Strict, decoded

FORMAT = 3
"""Of the contract and of the wire. Sottovoce 0.1 had no number here; in 2 there were no permits."""

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
DAY = 86400


class ByModel(Strict, frozen=True, kw_only=True, tag_field="kind", tag="model"):
    """One model for everybody: the device chooses by it, and the action never travels."""

    model: str
    """Its kind: a name in `offers.MODELS`."""
    fields: dict[str, Field]
    actions: tuple[str, ...] = ()
    """The names of the actions; the fields then describe the person."""
    candidates: int = 0
    """Instead of named actions: how many an app may show at once, each described by the fields."""
    link: Link | None = None

    @property
    def user(self) -> str:
        """Who answers: a name in `users.USERS`."""
        return self.model

    @property
    def arms(self) -> int:
        """The largest number of actions to choose from."""
        return len(self.actions) or self.candidates

    @property
    def dimension(self) -> int:
        """The length of a feature vector: a constant and the fields, once for every named action."""
        return width_of(self.fields) * max(len(self.actions), 1)


class ByTicket(Strict, frozen=True, kw_only=True, tag_field="kind", tag="tickets"):
    """The server chooses for each person: an arm, a point, or points to try. The ticket says which."""

    actions: tuple[str, ...] = ()
    """The names of the arms; none where the actions are points."""
    dimension: int = 0
    """Coordinates of a point; 0 where the actions are arms."""
    slopes: bool = False
    """Does a person try pairs of points, and report how the reward changes between the two?"""

    link = None

    @property
    def user(self) -> str:
        return "slope" if self.slopes else "scalar"

    @property
    def arms(self) -> int:
        return len(self.actions)


class Gate(Strict, frozen=True, kw_only=True):
    """One mechanism that a device may answer through: its budget and its numbers."""

    epsilon: float
    delta: float
    numbers: dict[str, int | str | list[str]]


class RewardTerms(Strict, frozen=True, kw_only=True):
    """The declared range, the default, and after how many seconds it is reported."""

    low: float
    high: float
    default: float
    wait: int
    unit_low: float
    unit_high: float
    """Messages speak of the reward on the scale from `unit_low` to `unit_high`. Larger is better on both."""

    @property
    def scale(self) -> float:
        """How much of the reward one unit of that scale is."""
        return (self.high - self.low) / (self.unit_high - self.unit_low)

    def to_unit(self, reward: Any) -> Any:
        """The reward, clipped to its declared range, on the scale of messages.

        >>> stars = RewardTerms(low=1.0, high=5.0, default=1.0, wait=60, unit_low=0.0, unit_high=1.0)
        >>> float(stars.to_unit(4.0)), float(stars.to_unit(7.0)), stars.from_unit(0.75)
        (0.75, 1.0, 4.0)
        """
        share = (np.clip(reward, self.low, self.high) - self.low) / (self.high - self.low)
        return self.unit_low + share * (self.unit_high - self.unit_low)

    def from_unit(self, value: Any) -> Any:
        """The inverse, for what people are shown."""
        share = (value - self.unit_low) / (self.unit_high - self.unit_low)
        return self.low + share * (self.high - self.low)


class Limit(Strict, frozen=True, kw_only=True):
    """What the task will ever ask of one device; the owner of the device may allow less."""

    lifetime: float
    lifetime_delta: float
    window: float
    window_days: int


class Contract(Strict, frozen=True, kw_only=True):
    """The contract as it is read; see `contract_from`."""

    format: int
    id: str
    title: str
    offers: ByModel | ByTicket
    domain: dict[str, int | str]
    mechanism: str
    gates: tuple[Gate, ...]
    """The first is the task's budget; the others are quieter."""
    limit: Limit
    reward: RewardTerms
    delay: int
    """A device waits at random up to so many seconds before it sends."""
    expires: datetime.date
    retention: int
    """Seconds for which the server keeps single reports."""
    extensions: dict[str, Any]
    """What later versions add for devices, by name. A device refuses a name that it does not know."""
    learning: msgspec.Raw
    """For the server: see `catalogue.task.Learning`."""


def contract_from(body: bytes) -> Contract:
    """The contract that these bytes are; refuses another format by its number."""
    found = decoded(body, _Format, "a contract").format
    if found != FORMAT:
        raise WireError(f"this contract has format {found}; this version of Sottovoce reads format {FORMAT}")
    return decoded(body, Contract, "a contract")


def digest_of(body: bytes) -> str:
    """The SHA-256 of a contract: other bytes are another contract.

    >>> digest_of(b"{}")[:8]
    '44136fa3'
    """
    return hashlib.sha256(body).hexdigest()


class _Format(msgspec.Struct, frozen=True):
    format: int = 1
