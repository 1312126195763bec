"""One SQLite file for all tasks of one owner: contracts, offers, decisions, the ledger and the outbox.

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

from sottovoce.protocol.errors import ConfigurationError

FILE = "device.sqlite"
FORMAT = 1

SCHEMA = """
CREATE TABLE IF NOT EXISTS joined (
    id INTEGER PRIMARY KEY, server TEXT NOT NULL, task TEXT NOT NULL, digest TEXT NOT NULL, contract BLOB NOT NULL,
    limits BLOB NOT NULL,
    mode TEXT NOT NULL, open INTEGER NOT NULL, opted_out INTEGER NOT NULL DEFAULT 0, recommendation BLOB,
    UNIQUE (server, task));
CREATE TABLE IF NOT EXISTS models (
    joined INTEGER NOT NULL, version TEXT NOT NULL, document BLOB NOT NULL, etag TEXT NOT NULL, until REAL NOT NULL,
    newest INTEGER NOT NULL, PRIMARY KEY (joined, version)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tickets (
    id INTEGER PRIMARY KEY, joined INTEGER NOT NULL, ticket TEXT NOT NULL, action BLOB NOT NULL,
    expires INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS decisions (
    id TEXT PRIMARY KEY, joined INTEGER NOT NULL, entry INTEGER NOT NULL, drawing INTEGER NOT NULL DEFAULT 0,
    at REAL NOT NULL, gate INTEGER NOT NULL, source TEXT NOT NULL, raw BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ledger (
    id INTEGER PRIMARY KEY AUTOINCREMENT, joined INTEGER NOT NULL, decision TEXT NOT NULL UNIQUE,
    epsilon REAL NOT NULL, delta REAL NOT NULL, cost BLOB NOT NULL, hour INTEGER NOT NULL, fate TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS outbox (
    id INTEGER PRIMARY KEY, joined INTEGER NOT NULL, entry INTEGER NOT NULL, report BLOB NOT NULL, due REAL NOT NULL);
CREATE TABLE IF NOT EXISTS counts (
    joined INTEGER NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (joined, name)) WITHOUT ROWID;
"""


class Store:
    """The file, or memory; `lock` is the one lock of a device, never held while the network is used."""

    def __init__(self, folder: Path | None) -> None:
        self.lock = threading.RLock()
        self._durable = folder is not None
        self._open = True
        self._db = sqlite3.connect(_file(folder), isolation_level=None, check_same_thread=False, timeout=30)
        if self._durable:
            self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA secure_delete = ON")
        (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found not in (0, FORMAT):
            raise ConfigurationError(f"{folder} was written by another version (format {found}, this is {FORMAT})")
        if not found:
            self._db.executescript(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {FORMAT}; COMMIT")

    @contextmanager
    def transaction(self, *, flush: bool = False) -> Iterator[sqlite3.Connection]:
        """All of it or nothing."""
        with self.lock:
            if self._durable:
                self._db.execute(f"PRAGMA synchronous = {'FULL' if flush else 'NORMAL'}")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """For single statements that only read."""
        with self.lock:
            yield self._db

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


def _file(folder: Path | None) -> str:
    if folder is None:
        return ":memory:"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / FILE
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    return str(file)


def count(db: sqlite3.Connection, joined: int, name: str, more: int = 1) -> None:
    """Add to one of the owner's statistics."""
    db.execute(
        "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
        (joined, name, more),
    )
