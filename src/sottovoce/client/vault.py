"""One SQLite file for all tasks of one owner: contracts, offers, decisions, the ledger and the outbox. All SQL is here.

A transaction that has ended survives the death of the process. With `flush` it survives the loss of power too, and with
it all that came before, because SQLite appends to one log. One flush per report is enough for the promise: the claim of
the draw, after which the debit is on the disk and no second draw can happen. What power may take before that was not
drawn; what it takes after that is lost, or sent again byte for byte. Deleted rows are overwritten with zeros.
"""

import math
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sottovoce.client.tables import FORMAT, SCHEMA, HeldPermit, JoinedRow, LedgerRow, OutboxRow, Pending
from sottovoce.protocol.errors import ConfigurationError

FILE = "device.sqlite"
BUSY_SECONDS = 30.0
"""How long to wait for somebody else who uses the file."""

Row = TypeVar("Row", bound=NamedTuple)


class Vault:
    """The file, or memory, and the place of one task in it.

    `lock` is the one lock of a device, never held while the network is used. Whoever needs several of these steps to be
    one wraps them in a transaction.
    """

    def __init__(self, folder: Path | None) -> None:
        self.lock, self._process = threading.RLock(), os.getpid()
        self.id = 0
        """The number of the task that was joined; 0 before."""
        try:
            self._open(folder)
        except (sqlite3.DatabaseError, OSError) as error:
            advice = "it keeps what was spent: put a backup in its place, or begin anew in another folder"
            raise ConfigurationError(f"cannot use the device's file in {folder}: {error}; {advice}") from error

    # --- the file ----------------------------------------------------------------------------------------------------

    def _open(self, folder: Path | None) -> None:
        self._db = sqlite3.connect(_file(folder), isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
        _log_ahead(self._db)
        self._db.execute("PRAGMA secure_delete = ON")
        with self.transaction(flush=True):
            (found,) = self._db.execute("PRAGMA user_version").fetchone()
            if found not in (0, FORMAT):
                older = "Sottovoce 0.1" if found == 1 else "an earlier version of Sottovoce"
                writer = older if found < FORMAT else "a newer version of Sottovoce"
                formats = f"format {found}, this version reads {FORMAT}"
                raise ConfigurationError(f"{folder} was written by {writer} ({formats}); use another folder")
            for statement in [] if found else [*SCHEMA.split(";")[:-1], f"PRAGMA user_version = {FORMAT}"]:
                self._db.execute(statement)

    @contextmanager
    def transaction(self, *, flush: bool = False) -> Iterator[None]:
        """All of it or nothing."""
        self._check_process()
        with self.lock:
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
        self.run("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Tidy up, and close."""
        with self.lock, suppress(sqlite3.ProgrammingError):  # it may be closed already
            self.tidy()
            self._db.close()

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one statement; the rows that it returns."""
        self._check_process()
        with self.lock:
            return self._db.execute(statement, values).fetchall()

    def _check_process(self) -> None:
        """A copy of this process would spend the same budget, and use the same permits, a second time."""
        if os.getpid() != self._process:
            raise ConfigurationError("this device was opened before the process was forked; open one after that")

    def _select(self, kind: type[Row], which: str, *values: Any) -> list[Row]:
        """Rows of this kind; `which` says the table and the condition."""
        return [kind._make(row) for row in self.run(f"SELECT {', '.join(kind._fields)} FROM {which}", *values)]

    def _insert(self, table: str, **columns: Any) -> Any:
        """Add a row of this task; its id."""
        names, places = ", ".join(columns), ", ?" * len(columns)
        statement = f"INSERT INTO {table} (joined, {names}) VALUES (?{places}) RETURNING id"
        return self.run(statement, self.id, *columns.values())[0][0]

    # --- tasks -------------------------------------------------------------------------------------------------------

    def joined(self) -> list[JoinedRow]:
        """All tasks that were joined."""
        return self._select(JoinedRow, "joined ORDER BY id")

    def join(self, server: str, task: str, contract: bytes, limits: bytes) -> None:
        """Pin a contract; a task that was joined before keeps what it has, but for the owner's limits."""
        pin = "INSERT INTO joined (server, task, contract, limits) VALUES (?, ?, ?, ?)"
        again = "ON CONFLICT DO UPDATE SET limits = excluded.limits"
        ((self.id,),) = self.run(f"{pin} {again} RETURNING id", server, task, contract, limits)

    def standing(self) -> JoinedRow:
        """As it is in the file, where every process of the owner sees it."""
        return self._select(JoinedRow, "joined WHERE id = ?", self.id)[0]

    def set(self, **columns: Any) -> None:
        """Change the standing: mode, open, opted_out or recommendation."""
        names = ", ".join(f"{name} = ?" for name in columns)
        self.run(f"UPDATE joined SET {names} WHERE id = ?", *columns.values(), self.id)

    def count(self, name: str) -> None:
        """Add one to one of the owner's statistics."""
        self.run("INSERT INTO counts VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1", self.id, name)

    def counts(self) -> dict[str, int]:
        """Entries of the ledger by fate, and all that was counted."""
        fates = self.run("SELECT fate, count(*) FROM ledger WHERE joined = ? GROUP BY fate", self.id)
        return dict(fates) | dict(self.run("SELECT name, count FROM counts WHERE joined = ?", self.id))

    # --- offers ------------------------------------------------------------------------------------------------------

    def models(self) -> list[tuple[str, bytes]]:
        """(version, body) of the models that are kept, the newest last."""
        return self.run("SELECT version, body FROM models WHERE joined = ? ORDER BY newest", self.id)

    def keep_model(self, version: str, body: bytes) -> None:
        """Keep the newest model; it replaces all that no open decision needs."""
        self.run("UPDATE models SET newest = 0 WHERE joined = ?", self.id)
        self.run("INSERT OR REPLACE INTO models VALUES (?, ?, ?, 1)", self.id, version, body)
        needed = "SELECT version FROM decisions WHERE joined = ?"
        old = f"joined = ? AND newest = 0 AND version NOT IN ({needed})"
        self.run(f"DELETE FROM models WHERE {old}", self.id, self.id)

    def permits_left(self, until: float) -> int:
        """How many permits or tickets are valid until then."""
        return self.run("SELECT count(*) FROM permits WHERE joined = ? AND expires > ?", self.id, until)[0][0]

    def drop_permits(self, until: float) -> None:
        """Throw away those that are not valid until then: no draw was made for them."""
        self.run("DELETE FROM permits WHERE joined = ? AND expires <= ?", self.id, until)

    def take_permit(self, until: float) -> HeldPermit | None:
        """The oldest permit that is valid until then."""
        self.drop_permits(until)
        first = "SELECT id FROM permits WHERE joined = ? ORDER BY id LIMIT 1"
        taken = self.run(f"DELETE FROM permits WHERE id = ({first}) RETURNING permit, nonce, action", self.id)
        return HeldPermit(*taken[0]) if taken else None

    def put_permit(self, held: HeldPermit, expires: int) -> None:
        self._insert("permits", **held._asdict(), expires=expires)

    # --- decisions ---------------------------------------------------------------------------------------------------

    def pay(self, decision: str, epsilon: float, delta: float, cost: bytes, hour: int) -> int:
        """The number of the new entry in the ledger."""
        paid = {"epsilon": epsilon, "delta": delta, "cost": cost, "hour": hour}
        return self._insert("ledger", decision=decision, **paid, fate="promised")

    def ledger(self, after: int = 0) -> list[LedgerRow]:
        """What all tasks have spent since this entry."""
        return self._select(LedgerRow, "ledger WHERE id > ? ORDER BY id", after)

    def promise(self, decision: Pending) -> None:
        """Remember a decision, in the transaction that pays for it."""
        self._insert("decisions", **decision._asdict())

    def begin(self, decision: str) -> Pending | None:
        """Claim the one draw of a decision. It succeeds once, whatever happens afterwards."""
        claim = "UPDATE decisions SET drawing = 1 WHERE id = ? AND joined = ? AND drawing = 0"
        claimed = self.run(f"{claim} RETURNING {', '.join(Pending._fields)}", decision, self.id)
        return Pending(*claimed[0]) if claimed else None

    def finish(self, decision: Pending, report: bytes, due: float) -> bool:
        """Forget the raw data and keep the report. False if it was withdrawn while the report was drawn."""
        if not self.run("DELETE FROM decisions WHERE id = ? AND drawing = 1 RETURNING id", decision.id):
            return False
        self._insert("outbox", entry=decision.entry, report=report, due=due)
        self.run("UPDATE ledger SET fate = 'drawn' WHERE id = ?", decision.entry)
        return True

    def overdue(self, before: float) -> list[str]:
        """Decisions made before this time that nobody has observed."""
        late = "SELECT id FROM decisions WHERE joined = ? AND drawing = 0 AND at < ?"
        return [decision for (decision,) in self.run(late, self.id, before)]

    def was_made(self, decision: str) -> bool:
        return bool(self.run("SELECT 1 FROM ledger WHERE decision = ? AND joined = ?", decision, self.id))

    def give_up_draws(self) -> None:
        """Lose the decisions that a crash interrupted during their draw: a second draw would be a second report."""
        caught = "FROM decisions WHERE joined = ? AND drawing = 1"
        self.run(f"UPDATE ledger SET fate = 'lost' WHERE id IN (SELECT entry {caught})", self.id)
        self.run(f"DELETE {caught}", self.id)

    def withdraw(self, fate: str) -> None:
        """Forget everything that was promised and has not left."""
        for table in ("decisions", "outbox"):
            own = f"FROM {table} WHERE joined = ?"
            self.run(f"UPDATE ledger SET fate = ? WHERE id IN (SELECT entry {own})", fate, self.id)
            self.run(f"DELETE {own}", self.id)

    # --- the outbox --------------------------------------------------------------------------------------------------

    def outbox(self, until: float = math.inf) -> list[OutboxRow]:
        """What will leave until this time, in the order in which it is due."""
        return self._select(OutboxRow, "outbox WHERE joined = ? AND due <= ? ORDER BY due", self.id, until)

    def waits(self, row: OutboxRow) -> bool:
        """Is it still in the outbox?"""
        return bool(self.run("SELECT 1 FROM outbox WHERE id = ? AND entry = ?", row.id, row.entry))

    def settle(self, row: OutboxRow, fate: str) -> None:
        """A report that was answered for good leaves the outbox."""
        if self.run("DELETE FROM outbox WHERE id = ? AND entry = ? RETURNING id", row.id, row.entry):
            known = "sent" if fate in ("accepted", "duplicate") else fate
            self.run("UPDATE ledger SET fate = ? WHERE id = ?", known, row.entry)
            self.count(fate)


def _log_ahead(db: sqlite3.Connection) -> None:
    """Write to a log first; a database in memory ignores this. SQLite does not wait by itself for another who opens."""
    start = time.monotonic()
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() - start > BUSY_SECONDS:
                db.close()
                raise
        time.sleep(0.01)


def _file(folder: Path | None) -> str:
    if folder is None:
        return ":memory:"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / FILE
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    return str(file)
