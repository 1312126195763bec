"""One SQLite file for all tasks of one owner: contracts, offers, decisions, the ledger and the outbox. All SQL is here.

A transaction that has ended survives the death of the process. With `flush` it survives the loss of power too, and with
it all that came before, because SQLite appends to one log. One flush per report is enough for the promise: the claim of
the draw, after which the debit is on the disk and no second draw can happen. What power may take before that was not
drawn; what it takes after that is lost, or sent again byte for byte. Deleted rows are overwritten with zeros.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from sottovoce.protocol.errors import ConfigurationError

FILE = "device.sqlite"
FORMAT = 2
"""Format 1 was written by Sottovoce 0.1."""

SCHEMA = """
CREATE TABLE joined (
    id INTEGER PRIMARY KEY, server TEXT NOT NULL, task TEXT NOT NULL, contract BLOB NOT NULL, limits BLOB NOT NULL,
    mode TEXT NOT NULL DEFAULT 'live', open INTEGER NOT NULL DEFAULT 1, opted_out INTEGER NOT NULL DEFAULT 0,
    recommendation BLOB, UNIQUE (server, task));
CREATE TABLE models (
    joined INTEGER NOT NULL, version TEXT NOT NULL, body BLOB NOT NULL, newest INTEGER NOT NULL,
    PRIMARY KEY (joined, version)) WITHOUT ROWID;
CREATE TABLE tickets (
    id INTEGER PRIMARY KEY, joined INTEGER NOT NULL, ticket TEXT NOT NULL, action BLOB NOT NULL,
    expires INTEGER NOT NULL);
CREATE TABLE decisions (
    id TEXT PRIMARY KEY, joined INTEGER NOT NULL, entry INTEGER NOT NULL, drawing INTEGER NOT NULL DEFAULT 0,
    at REAL NOT NULL, gate INTEGER NOT NULL, source TEXT NOT NULL, raw BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE ledger (
    id INTEGER PRIMARY KEY AUTOINCREMENT, joined INTEGER NOT NULL, decision TEXT NOT NULL UNIQUE,
    epsilon REAL NOT NULL, delta REAL NOT NULL, cost BLOB NOT NULL, hour INTEGER NOT NULL, fate TEXT NOT NULL);
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY, joined INTEGER NOT NULL, entry INTEGER NOT NULL, report BLOB NOT NULL, due REAL NOT NULL);
CREATE TABLE counts (
    joined INTEGER NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (joined, name)) WITHOUT ROWID;
"""


class JoinedRow(NamedTuple):
    """A task that was joined. `contract` are the bytes that were pinned."""

    id: int
    server: str
    task: str
    contract: bytes
    limits: bytes
    mode: str
    open: int
    opted_out: int
    recommendation: bytes | None
    """Of a task that knows enough; None before."""


class Pending(NamedTuple):
    """A decision whose report was promised. Raw data is kept here until its one report is drawn."""

    id: str
    entry: int
    """In the ledger."""
    at: float
    gate: int
    source: str
    """The model's version, or the ticket."""
    raw: bytes
    """The chosen features, or the action of the ticket."""


class LedgerRow(NamedTuple):
    """What one report cost. Rows are added, never taken back."""

    id: int
    joined: int
    epsilon: float
    delta: float
    cost: bytes
    hour: int
    fate: str


class OutboxRow(NamedTuple):
    """One report as it will leave, and when it is due."""

    id: int
    entry: int
    report: bytes
    due: float


class Vault:
    """The file, or memory; `lock` is the one lock of a device, never held while the network is used."""

    def __init__(self, folder: Path | None) -> None:
        self.lock = threading.RLock()
        self._durable = folder is not None
        self._open = True
        self._db = sqlite3.connect(_file(folder), isolation_level=None, check_same_thread=False, timeout=30)
        if self._durable:
            self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA secure_delete = ON")
        with self.transaction(flush=True):
            self._prepare(folder)

    def _prepare(self, folder: Path | None) -> None:
        (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found not in (0, FORMAT):
            writer = "Sottovoce 0.1" if found == 1 else "a newer version of Sottovoce"
            raise ConfigurationError(
                f"{folder} was written by {writer} (format {found}, this version reads {FORMAT}); use another folder"
            )
        if not found:
            for statement in SCHEMA.split(";")[:-1]:
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {FORMAT}")

    # --- the file ----------------------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, *, flush: bool = False) -> Iterator[None]:
        """All of it or nothing."""
        with self.lock:
            if self._durable:
                self._db.execute(f"PRAGMA synchronous = {'FULL' if flush else 'NORMAL'}")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def tidy(self) -> None:
        """Empty the log into the file, so that what was deleted is nowhere any more."""
        with self.lock:
            if self._durable:
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Tidy up, and close."""
        with self.lock:
            if self._open:
                self.tidy()
                self._db.close()
                self._open = False

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one statement; what it returns."""
        with self.lock:
            return self._db.execute(statement, values).fetchall()

    def changed(self, statement: str, *values: Any) -> int:
        """Run one statement; how many rows it has changed."""
        with self.lock:
            return self._db.execute(statement, values).rowcount

    # --- all tasks ---------------------------------------------------------------------------------------------------

    def joined(self, server: str = "", task: str = "") -> list[JoinedRow]:
        """The tasks that were joined: all, or the one of this server and name."""
        columns = f"SELECT {', '.join(JoinedRow._fields)} FROM joined"
        if not task:
            return [JoinedRow(*row) for row in self.rows(f"{columns} ORDER BY id")]
        return [JoinedRow(*row) for row in self.rows(f"{columns} WHERE server = ? AND task = ?", server, task)]

    def join(self, server: str, task: str, contract: bytes, limits: bytes) -> "TaskVault":
        """Pin a contract; a task that was joined before keeps what it has, but for the owner's limits."""
        self.rows(
            "INSERT INTO joined (server, task, contract, limits) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET limits = excluded.limits",
            server, task, contract, limits,
        )  # fmt: skip
        return TaskVault(self, self.joined(server, task)[0].id)

    def ledger(self, after: int = 0) -> list[LedgerRow]:
        """What all tasks have spent since this entry."""
        columns = ", ".join(LedgerRow._fields)
        return [LedgerRow(*row) for row in self.rows(f"SELECT {columns} FROM ledger WHERE id > ? ORDER BY id", after)]


class TaskVault:
    """What belongs to one task. Whoever needs several of these steps to be one wraps them in a transaction."""

    def __init__(self, vault: Vault, id: int) -> None:
        self.vault, self.id = vault, id
        self._rows, self._changed = vault.rows, vault.changed

    # --- the task ----------------------------------------------------------------------------------------------------

    def standing(self) -> JoinedRow:
        """As it is in the file, where every process of the owner sees it."""
        columns = ", ".join(JoinedRow._fields)
        return JoinedRow(*self._rows(f"SELECT {columns} FROM joined WHERE id = ?", self.id)[0])

    def set(self, **columns: Any) -> None:
        """Change the standing: mode, open, opted_out or recommendation."""
        names = ", ".join(f"{name} = ?" for name in columns)
        self._changed(f"UPDATE joined SET {names} WHERE id = ?", *columns.values(), self.id)

    def count(self, name: str) -> None:
        """Add one to one of the owner's statistics."""
        self._changed("INSERT INTO counts VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1", self.id, name)

    def counts(self) -> dict[str, int]:
        """Entries of the ledger by fate, and all that was counted."""
        fates = self._rows("SELECT fate, count(*) FROM ledger WHERE joined = ? GROUP BY fate", self.id)
        return dict(fates) | dict(self._rows("SELECT name, count FROM counts WHERE joined = ?", self.id))

    # --- offers ------------------------------------------------------------------------------------------------------

    def models(self) -> list[tuple[str, bytes]]:
        """(version, body) of the models that are kept, the newest last."""
        return self._rows("SELECT version, body FROM models WHERE joined = ? ORDER BY newest", self.id)

    def keep_model(self, version: str, body: bytes) -> None:
        """Keep the newest model; it replaces all that no open decision needs."""
        self._changed("UPDATE models SET newest = 0 WHERE joined = ?", self.id)
        self._changed("INSERT OR REPLACE INTO models VALUES (?, ?, ?, 1)", self.id, version, body)
        self._changed(
            "DELETE FROM models WHERE joined = ? AND newest = 0 AND version NOT IN "
            "(SELECT source FROM decisions WHERE joined = ?)",
            self.id, self.id,
        )  # fmt: skip

    def tickets_left(self, now: float) -> int:
        return self._rows("SELECT count(*) FROM tickets WHERE joined = ? AND expires > ?", self.id, now)[0][0]

    def take_ticket(self, now: float) -> tuple[str, bytes] | None:
        """The next ticket and its action, first come, first used."""
        self._changed("DELETE FROM tickets WHERE joined = ? AND expires <= ?", self.id, now)
        first = "SELECT id FROM tickets WHERE joined = ? ORDER BY id LIMIT 1"
        taken = self._rows(f"DELETE FROM tickets WHERE id = ({first}) RETURNING ticket, action", self.id)
        return taken[0] if taken else None

    def put_ticket(self, ticket: str, action: bytes, expires: int) -> None:
        values = "INSERT INTO tickets (joined, ticket, action, expires) VALUES (?, ?, ?, ?)"
        self._changed(values, self.id, ticket, action, expires)

    # --- decisions ---------------------------------------------------------------------------------------------------

    def pay(self, decision: str, epsilon: float, delta: float, cost: bytes, hour: int) -> int:
        """The number of the new entry in the ledger."""
        return self._rows(
            "INSERT INTO ledger (joined, decision, epsilon, delta, cost, hour, fate) "
            "VALUES (?, ?, ?, ?, ?, ?, 'promised') RETURNING id",
            self.id, decision, epsilon, delta, cost, hour,
        )[0][0]  # fmt: skip

    def promise(self, decision: Pending) -> None:
        """Remember a decision, in the transaction that pays for it."""
        columns = ", ".join(Pending._fields)
        self._changed(f"INSERT INTO decisions (joined, {columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", self.id, *decision)

    def begin(self, decision: str) -> Pending | None:
        """Claim the one draw of a decision. It succeeds once, whatever happens afterwards."""
        claimed = self._rows(
            "UPDATE decisions SET drawing = 1 WHERE id = ? AND joined = ? AND drawing = 0 "
            f"RETURNING {', '.join(Pending._fields)}",
            decision, self.id,
        )  # fmt: skip
        return Pending(*claimed[0]) if claimed else None

    def finish(self, decision: Pending, report: bytes, due: float) -> bool:
        """Forget the raw data and keep the report. False if it was withdrawn while the report was drawn."""
        if not self._changed("DELETE FROM decisions WHERE id = ? AND drawing = 1", decision.id):
            return False
        values = "INSERT INTO outbox (joined, entry, report, due) VALUES (?, ?, ?, ?)"
        self._changed(values, self.id, decision.entry, report, due)
        self._changed("UPDATE ledger SET fate = 'drawn' WHERE id = ?", decision.entry)
        return True

    def overdue(self, before: float) -> list[str]:
        """Decisions made before this time that nobody has observed."""
        late = "SELECT id FROM decisions WHERE joined = ? AND drawing = 0 AND at < ?"
        return [decision for (decision,) in self._rows(late, self.id, before)]

    def was_made(self, decision: str) -> bool:
        return bool(self._rows("SELECT 1 FROM ledger WHERE decision = ? AND joined = ?", decision, self.id))

    def give_up_draws(self) -> None:
        """Lose the decisions that a crash interrupted during their draw: a second draw would be a second report."""
        caught = "FROM decisions WHERE joined = ? AND drawing = 1"
        self._changed(f"UPDATE ledger SET fate = 'lost' WHERE id IN (SELECT entry {caught})", self.id)
        self._changed(f"DELETE {caught}", self.id)

    def withdraw(self, fate: str) -> None:
        """Forget everything that was promised and has not left."""
        promised = "SELECT entry FROM decisions WHERE joined = ? UNION SELECT entry FROM outbox WHERE joined = ?"
        self._changed(f"UPDATE ledger SET fate = ? WHERE id IN ({promised})", fate, self.id, self.id)
        self._changed("DELETE FROM decisions WHERE joined = ?", self.id)
        self._changed("DELETE FROM outbox WHERE joined = ?", self.id)

    # --- the outbox --------------------------------------------------------------------------------------------------

    def outbox(self, due: float | None = None) -> list[OutboxRow]:
        """What will leave in the order in which it is due; only what is due by then where a time is given."""
        columns, order = ", ".join(OutboxRow._fields), "ORDER BY due"
        until = 1e300 if due is None else due
        wanted = f"SELECT {columns} FROM outbox WHERE joined = ? AND due <= ? {order}"
        return [OutboxRow(*row) for row in self._rows(wanted, self.id, until)]

    def settle(self, row: OutboxRow, fate: str) -> None:
        """A report that was answered for good leaves the outbox."""
        if self._changed("DELETE FROM outbox WHERE id = ? AND entry = ?", row.id, row.entry):
            known = "sent" if fate in ("accepted", "duplicate") else fate
            self._changed("UPDATE ledger SET fate = ? WHERE id = ?", known, row.entry)
            self.count(fate)


def _file(folder: Path | None) -> str:
    if folder is None:
        return ":memory:"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / FILE
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    return str(file)
