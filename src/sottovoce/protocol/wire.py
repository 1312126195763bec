"""What devices, shufflers and the server say to each other, as strict data: unknown fields are refused.

Payloads are base64url of fixed length: every report of a task is as long as any other, whatever the person did. Each
brings back a permit and reveals its nonce (`permits`). A report to a task with a model names no action, no person and
no time; in a task with tickets the permit is a ticket, because there the server chose the action.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta

from sottovoce.protocol.strict import Strict

ADMISSION = "Sottovoce-Admission"
"""The header with a token of the app, where a task wants one."""
LARGEST_BATCH = 1000
"""Reports in one request."""
LARGEST_SHUFFLED = 8000
"""Reports in one batch of a shuffler."""
LARGEST_BODY = 512 * 1024
"""Bytes of one request."""
LARGEST_HEAD = 256
"""Bytes of a batch beside its reports."""
ENCODED = '{"id":"0123456789012345678901","payload":""},'
"""What one report of a batch takes beside its payload."""
LARGEST_OFFERS = 100
"""Tickets or permits in one request."""

Verdict = Literal[
    "accepted",
    "duplicate",
    "bad-gate",
    "bad-payload",
    "bad-permit",
    "expired-permit",
    "unknown-version",
    "task-expired",
    "task-paused",
    "task-done",
]
"""The answer to one report: the first two mean that it is in the journal, once."""


class TicketReport(Strict, frozen=True, kw_only=True):
    """A report to a task with tickets."""

    ticket: str
    nonce: str
    gate: int
    payload: str


class ModelReport(Strict, frozen=True, kw_only=True):
    """A report to a task with a model."""

    permit: str
    nonce: str
    version: str
    gate: int
    payload: str


class TicketReports(Strict, frozen=True, kw_only=True):
    reports: Annotated[list[TicketReport], Meta(min_length=1, max_length=LARGEST_BATCH)]


class ModelReports(Strict, frozen=True, kw_only=True):
    reports: Annotated[list[ModelReport], Meta(min_length=1, max_length=LARGEST_BATCH)]


class ShuffledReport(Strict, frozen=True, kw_only=True):
    """One report of a batch, as the journal keeps it: a name that the shuffler drew, then the coin and the payload."""

    id: str
    payload: str


class ShuffledReports(Strict, frozen=True, kw_only=True):
    """A batch of a shuffler: reports that answer one model through one gate, in random order."""

    version: str
    gate: int
    reports: Annotated[list[ShuffledReport], Meta(min_length=1, max_length=LARGEST_SHUFFLED)]


def room_for(size: int) -> int:
    """How many reports of so many bytes, with their coins, fit into one batch.

    >>> room_for(13), room_for(800)
    (8000, 471)
    """
    text = len(ENCODED) + (4 * size + 2) // 3
    return min(LARGEST_SHUFFLED, (LARGEST_BODY - LARGEST_HEAD) // text)


class Verdicts(Strict, frozen=True, kw_only=True):
    """One verdict per report, in order."""

    verdicts: list[Verdict]


class Commitments(Strict, frozen=True, kw_only=True):
    """A request for as many tickets or permits: the SHA-256 of the nonce of each."""

    commitments: Annotated[list[str], Meta(min_length=1, max_length=LARGEST_OFFERS)]


class Permit(Strict, frozen=True, kw_only=True):
    """What a report to a task with a model brings back."""

    permit: str
    expires: int
    """Seconds since 1970."""


class Permits(Strict, frozen=True, kw_only=True):
    permits: list[Permit]


class TicketOffer(Strict, frozen=True, kw_only=True):
    """An action that the server chose, and the ticket to bring back."""

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


class TaskStatus(Strict, frozen=True, kw_only=True):
    """What may change while a task lives. Devices ask for it often, so it is short."""

    id: str
    digest: str
    """Of the contract; see `contract.digest_of`."""
    mode: Literal["live", "apprentice"]
    """An apprentice only learns: devices show what the app would have shown anyway."""
    state: Literal["open", "paused", "expired", "done"]
    """Reports are wanted while it is open; choosing always works."""
    version: str
    """Of the newest model; empty for a task with tickets, and before the first model."""
