"""What travels over HTTP, as strict data: unknown fields are refused. Payloads are base64url of fixed length.

Every report of a task has the same length, whatever the person did. A report to a task with a model names no action,
no person and no time; one to a task with tickets brings its ticket back, because there the server chose the action.
"""

import hashlib
from typing import Any, Literal

import msgspec

from sottovoce.protocol.contract import Contract, Status
from sottovoce.protocol.strict import Strict

REPORT_ID_BYTES = 16
VERSION_BYTES = 16
LARGEST_BATCH = 1000
"""Reports in one request."""
LARGEST_BODY = 512 * 1024
"""Bytes of one request."""
LARGEST_OFFERS = 100
"""Tickets in one request."""

Verdict = Literal[
    "accepted",
    "duplicate",
    "bad-gate",
    "bad-id",
    "bad-payload",
    "bad-ticket",
    "expired-ticket",
    "unknown-version",
    "task-expired",
    "task-paused",
    "task-done",
]
"""The answer to one report: the first two mean that it is in the journal, once."""


class TicketReport(Strict, frozen=True, kw_only=True):
    """A report to a task with tickets."""

    ticket: str
    gate: int
    payload: str


class ModelReport(Strict, frozen=True, kw_only=True):
    """A report to a task with a model. The id is random and belongs to the report, not to the person."""

    id: str
    version: str
    gate: int
    payload: str


class TicketReports(Strict, frozen=True, kw_only=True):
    reports: list[TicketReport]


class ModelReports(Strict, frozen=True, kw_only=True):
    reports: list[ModelReport]


class Verdicts(Strict, frozen=True, kw_only=True):
    """One verdict per report, in order."""

    verdicts: list[Verdict]


class OffersRequest(Strict, frozen=True, kw_only=True):
    count: int = 1


class TicketOffer(Strict, frozen=True, kw_only=True):
    """An action that the server chose, and the sealed ticket to bring back."""

    ticket: str
    action: Any
    """The number of an arm, a point, or the points to try."""
    expires: int
    """Seconds since 1970."""


class Offers(Strict, frozen=True, kw_only=True):
    """Tickets; or none and the recommendation, once the task knows enough."""

    offers: list[TicketOffer]
    done: bool = False
    recommendation: Any = None


class ModelDocument(Strict, frozen=True, kw_only=True):
    """The offer of a task with a model, the same for everyone. `version` is a hash of `model`: see `version_of`."""

    version: str
    kind: Literal["linear", "generalized"]
    model: dict[str, Any]
    mode: Literal["live", "apprentice"]
    open: bool
    """False when reports are not wanted now; choosing still works."""


def version_of(model: dict[str, Any]) -> str:
    """A hash of the model's numbers: a server cannot give one person's model a name of its own.

    >>> version_of({"theta": [0.5, -0.25]})
    'c7a1ee03ed26fff20a78f84abd17a89a'
    """
    return hashlib.sha256(msgspec.json.encode(model, order="sorted")).hexdigest()[: 2 * VERSION_BYTES]


class WarmRow(Strict, frozen=True, kw_only=True):
    """One row of consented or public data: the arm (None with a model) and the message, in the clear."""

    message: list[float]
    action: int | None = None


class WarmRows(Strict, frozen=True, kw_only=True):
    rows: list[WarmRow]


class TaskDocument(Strict, frozen=True, kw_only=True):
    """The public contract, its hash, and what may change."""

    contract: Contract
    digest: str
    status: Status


class Summary(Strict, frozen=True, kw_only=True):
    """What the server has learned: all of it computed from private reports."""

    id: str
    reports: int
    """In the journal."""
    learned: int
    """Folded into the state."""
    published: int
    """Folded when the newest offer was published."""
    refused: dict[str, int]
    """Since the server started, by verdict."""
    done: bool
    recommendation: Any
    version: str
    epsilon: float
    bytes_per_report: int
    estimates: list[dict[str, Any]]
    """Per arm: its name, share of the offers, reports (by weight), mean outcome and its standard error."""
    state: str
    """A hash of the state after `learned` reports: replay gives the same."""
