"""Decisions that wait for their reward. Raw data rests here, until its one report is drawn."""

import sqlite3
from typing import NamedTuple


class Pending(NamedTuple):
    """A decision whose report was promised."""

    id: str
    entry: int
    """In the ledger."""
    at: float
    gate: int
    source: str
    """The model's version, or the ticket."""
    raw: bytes
    """The chosen features, or the action of the ticket."""


def promise(db: sqlite3.Connection, joined: int, decision: Pending) -> None:
    """Remember a decision, in the transaction that pays for it."""
    db.execute(
        "INSERT INTO decisions (joined, id, entry, at, gate, source, raw) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (joined, *decision),
    )


def begin(db: sqlite3.Connection, joined: int, decision: str) -> Pending | None:
    """Claim the one draw of a decision. It succeeds once, whatever happens afterwards."""
    row = db.execute(
        "UPDATE decisions SET drawing = 1 WHERE id = ? AND joined = ? AND drawing = 0 "
        "RETURNING id, entry, at, gate, source, raw",
        (decision, joined),
    ).fetchone()
    return None if row is None else Pending(*row)


def finish(db: sqlite3.Connection, decision: str) -> bool:
    """Forget the raw data. False if it was withdrawn while the report was drawn: the report is then thrown away."""
    return db.execute("DELETE FROM decisions WHERE id = ? AND drawing = 1", (decision,)).rowcount == 1


def overdue(db: sqlite3.Connection, joined: int, before: float) -> list[str]:
    """Decisions made before this time that nobody has observed."""
    rows = db.execute("SELECT id FROM decisions WHERE joined = ? AND drawing = 0 AND at < ?", (joined, before))
    return [decision for (decision,) in rows]


def lose(db: sqlite3.Connection, joined: int) -> None:
    """Give up decisions that a crash caught in the middle of their draw: a second draw would be a second report."""
    db.execute(
        "UPDATE ledger SET fate = 'lost' WHERE id IN (SELECT entry FROM decisions WHERE joined = ? AND drawing = 1)",
        (joined,),
    )
    db.execute("DELETE FROM decisions WHERE joined = ? AND drawing = 1", (joined,))


def withdraw(db: sqlite3.Connection, joined: int, fate: str) -> None:
    """Forget everything that was promised and has not left."""
    db.execute(
        "UPDATE ledger SET fate = ? WHERE id IN (SELECT entry FROM decisions WHERE joined = ? "
        "UNION SELECT entry FROM outbox WHERE joined = ?)",
        (fate, joined, joined),
    )
    db.execute("DELETE FROM decisions WHERE joined = ?", (joined,))
    db.execute("DELETE FROM outbox WHERE joined = ?", (joined,))
