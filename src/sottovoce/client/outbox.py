"""What will leave the device, byte by byte, and when. Nothing here is raw: every row went through the gate.

A report is due a random while after the decision's deadline, whenever its reward came. So neither the time nor the
order of reports tells whether anybody clicked.
"""

import sqlite3
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from sottovoce.client.offers import problem_of
from sottovoce.client.store import Store, count
from sottovoce.client.transport import Response
from sottovoce.privacy.drawing import Entropy
from sottovoce.protocol.wire import Verdicts

BATCH = 100
"""Reports in one request."""

LONGEST_BACKOFF = 3600.0
LONGEST_RETRY_AFTER = 86400.0


@dataclass(frozen=True)
class Waiting:
    """One report as it will leave, what it cost, and when it is due (seconds since 1970)."""

    report: dict[str, Any]
    epsilon: float
    delta: float
    due: float


@dataclass(frozen=True)
class Sent:
    """What became of the reports that were due."""

    acknowledged: int = 0
    refused: int = 0
    waiting: int = 0
    """All that is left in the outbox."""


class Row(NamedTuple):
    id: int
    entry: int
    report: bytes


class TryLater(Exception):
    """The server has not taken the batch; seconds after which to try again, where it said."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Outbox:
    """The outbox of one task."""

    def __init__(self, store: Store, joined: int) -> None:
        self._store, self._joined = store, joined

    def put(self, db: sqlite3.Connection, entry: int, report: bytes, due: float) -> None:
        """In the transaction that forgets the raw data."""
        values = (self._joined, entry, report, due)
        db.execute("INSERT INTO outbox (joined, entry, report, due) VALUES (?, ?, ?, ?)", values)
        db.execute("UPDATE ledger SET fate = 'drawn' WHERE id = ?", (entry,))

    def listing(self) -> list[Waiting]:
        """Everything that waits, in the order in which it is due."""
        with self._store.reading() as db:
            rows = db.execute(
                "SELECT report, epsilon, delta, due FROM outbox JOIN ledger ON ledger.id = outbox.entry "
                "WHERE outbox.joined = ? ORDER BY due",
                (self._joined,),
            ).fetchall()
        return [Waiting(msgspec.json.decode(report), *rest) for report, *rest in rows]

    def __len__(self) -> int:
        with self._store.reading() as db:
            return db.execute("SELECT count(*) FROM outbox WHERE joined = ?", (self._joined,)).fetchone()[0]

    def due(self, now: float, entropy: Entropy) -> list[list[Row]]:
        """Batches of what is due, in random order."""
        with self._store.reading() as db:
            found = "SELECT id, entry, report FROM outbox WHERE joined = ? AND due <= ?"
            rows = [Row(*row) for row in db.execute(found, (self._joined, now)).fetchall()]
        for last in range(len(rows) - 1, 0, -1):
            other = entropy.below(last + 1)
            rows[last], rows[other] = rows[other], rows[last]
        return [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]

    def settle(self, rows: list[Row], fates: list[str]) -> None:
        """Reports that were answered for good leave the outbox."""
        with self._store.transaction() as db:
            for row, fate in zip(rows, fates, strict=True):
                if db.execute("DELETE FROM outbox WHERE id = ? AND entry = ?", (row.id, row.entry)).rowcount:
                    taken = fate in ("accepted", "duplicate")
                    db.execute("UPDATE ledger SET fate = ? WHERE id = ?", ("sent" if taken else fate, row.entry))
                    count(db, self._joined, fate)


def body_of(rows: list[Row]) -> bytes:
    """The request: exactly the reports as they lie in the outbox."""
    return b'{"reports":[' + b",".join(row.report for row in rows) + b"]}"


def fates_of(answer: Response, number: int) -> list[str]:
    """One word per report; `TryLater` when the server has not judged them.

    >>> fates_of(Response(200, {}, b'{"verdicts": ["accepted", "bad-gate"]}'), 2)
    ['accepted', 'bad-gate']
    """
    if answer.status == 200:
        try:
            verdicts = msgspec.json.decode(answer.body, type=Verdicts).verdicts
        except msgspec.DecodeError as error:
            raise TryLater from error
        if len(verdicts) != number:
            raise TryLater
        return list(verdicts)
    problem = problem_of(answer.body)
    if 400 <= answer.status < 500 and answer.status != 429 and problem:
        return [problem] * number
    after = answer.headers.get("retry-after", "")
    raise TryLater(min(float(after), LONGEST_RETRY_AFTER) if after.isascii() and after.isdigit() else 0.0)


class Backoff:
    """How long to leave a server alone that did not answer: twice as long each time, with chance mixed in."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._failures = 0
        self._until = 0.0

    def ready(self, now: float) -> bool:
        return now >= self._until

    def failed(self, now: float, at_least: float = 0.0) -> None:
        most = min(LONGEST_BACKOFF, 2.0**self._failures)
        self._failures = min(self._failures + 1, 20)
        self._until = now + max(at_least, most * (1 + self._entropy.below(1000) / 1000) / 2)

    def succeeded(self) -> None:
        self._failures, self._until = 0, 0.0
