"""The embedded store: two SQLite files in one folder, write-ahead logged, no server and nothing to install.

`journal.sqlite` is written by the web process alone and synced at every commit: an acknowledged report survives the
loss of power. `learned.sqlite` is written by the learner alone; all of it can be computed again from the journal.
"""

import contextlib
import functools
import itertools
import operator
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store.base import (
    Entry,
    Journalled,
    Mode,
    Publication,
    Snapshot,
    StoreFault,
    TaskRow,
    Unread,
)

FORMAT = 5
"""Of both files, kept in SQLite's `user_version`. Sottovoce 0.1 left it at 0."""

JOURNAL = """
CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, contract BLOB NOT NULL, mode TEXT NOT NULL,
  paused INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS counts (task INTEGER PRIMARY KEY, reports INTEGER NOT NULL, warm INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS journal (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL, id BLOB NOT NULL, day INTEGER NOT NULL,
  gate INTEGER NOT NULL, context BLOB NOT NULL, payload BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS of_task ON journal (task, seq);
CREATE TABLE IF NOT EXISTS ids (
  task INTEGER NOT NULL, id BLOB NOT NULL, day INTEGER NOT NULL, PRIMARY KEY (task, id)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS once BEFORE INSERT ON journal
WHEN EXISTS (SELECT 1 FROM ids WHERE task = new.task AND id = new.id) BEGIN
  SELECT RAISE(IGNORE);
END;
CREATE TRIGGER IF NOT EXISTS counted AFTER INSERT ON journal BEGIN
  INSERT INTO ids VALUES (new.task, new.id, new.day);
  UPDATE counts SET reports = reports + (new.gate >= 0), warm = warm + (new.gate < 0) WHERE task = new.task;
END;
"""

LEARNED = """
CREATE TABLE IF NOT EXISTS publications (
  task INTEGER NOT NULL, learned INTEGER NOT NULL, version TEXT NOT NULL, body BLOB NOT NULL, memo BLOB NOT NULL,
  superseded INTEGER NOT NULL, PRIMARY KEY (task, learned)
);
CREATE TABLE IF NOT EXISTS snapshots (
  task INTEGER NOT NULL, learned INTEGER NOT NULL, seq INTEGER NOT NULL, published INTEGER NOT NULL,
  state BLOB NOT NULL, base INTEGER NOT NULL, PRIMARY KEY (task, base)
);
CREATE TABLE IF NOT EXISTS unread (
  task INTEGER NOT NULL, seq INTEGER NOT NULL, error TEXT NOT NULL, PRIMARY KEY (task, seq)
);
"""

INSERT = f"INSERT INTO journal ({', '.join(Journalled._fields)}) VALUES {{}}"
ROW = f"({', '.join('?' * len(Journalled._fields))})"
INSERTED_AT_ONCE = 128
"""Rows of one statement, and of one transaction where there are no more. A statement runs beside the event loop;
between two statements both wait for each other. SQLite prepares one for each number of rows, and keeps them."""

LONGEST_LOG = 2**16
"""Pages of four kilobytes: a quarter of a gigabyte."""
BUSY_SECONDS = 2.0
"""How long to wait for somebody else who writes; then it is a fault. Nobody of ours writes for that long."""
READ = 4096
"""Entries of one task read at once."""

Class = TypeVar("Class", bound=type)
PASSING = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED,
           sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PROTOCOL}  # fmt: skip
"""What SQLite says where the fault is of the disk, or of somebody else who uses the file."""


def _telling_faults(store: Class) -> Class:
    """The class, with every method telling such faults as `StoreFault`."""

    def telling(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def told(*arguments: Any, **named: Any) -> Any:
            try:
                return method(*arguments, **named)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in PASSING:
                    raise
                raise StoreFault(f"{error} ({error.sqlite_errorname})") from error

        return told

    for name, method in list(vars(store).items()):
        if not name.startswith("__"):
            setattr(store, name, telling(method))
    return store


@_telling_faults
class SqliteStore:
    """A `Store` in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._journal = _open(folder / "journal.sqlite", JOURNAL, durable=True)
        self._learned = _open(folder / "learned.sqlite", LEARNED, durable=False)

    def clone(self) -> "SqliteStore":
        return SqliteStore(self._folder)

    def close(self) -> None:
        self._journal.close()
        self._learned.close()

    # --- the web process writes --------------------------------------------------------------------------------------

    def secret(self, name: str) -> bytes:
        known = "SELECT value FROM secrets WHERE name = ?"
        if not self._journal.execute(known, (name,)).fetchone():  # only then is the file written to
            self._journal.execute("INSERT OR IGNORE INTO secrets VALUES (?, ?)", (name, secrets.token_bytes(32)))
        return self._journal.execute(known, (name,)).fetchone()[0]

    def create(self, id: str, body: bytes, mode: Mode) -> TaskRow:
        with _transaction(self._journal) as run:
            number = run("INSERT INTO tasks (id, contract, mode) VALUES (?, ?, ?)", (id, body, mode)).lastrowid
            run("INSERT INTO counts VALUES (?, 0, 0)", (number,))
        assert number is not None
        return TaskRow(number, body, mode, False)

    def change(self, number: int, mode: Mode, paused: bool) -> None:
        self._journal.execute("UPDATE tasks SET mode = ?, paused = ? WHERE number = ?", (mode, paused, number))

    def append(self, reports: Sequence[Journalled]) -> list[bool]:
        ordered = sorted(reports, key=operator.attrgetter("id"))
        groups = [ordered[at : at + INSERTED_AT_ONCE] for at in range(0, len(ordered), INSERTED_AT_ONCE)]
        with _transaction(self._journal) if len(groups) > 1 else contextlib.nullcontext():
            inserted = sum(self._insert(group) for group in groups)
        if inserted == len(reports):
            return [True] * inserted
        newest = self._journal.execute("SELECT task, id FROM journal ORDER BY seq DESC LIMIT ?", (inserted,))
        new = dict.fromkeys(newest.fetchall(), True)
        return [new.pop((report.task, report.id), False) for report in reports]  # a batch may hold one twice

    def _insert(self, reports: Sequence[Journalled]) -> int:
        """How many were not there."""
        rows = ", ".join([ROW] * len(reports))
        return self._journal.execute(INSERT.format(rows), [*itertools.chain(*reports)]).rowcount

    def tidy(self) -> None:
        """Move what was written from the write-ahead log into the journal's file.

        A log that is always in use never starts anew, so the writer waits once for one that has become too long.
        """
        _, pages, _ = self._journal.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if pages > LONGEST_LOG:
            self._journal.execute("PRAGMA wal_checkpoint(RESTART)")

    def forget(self, task: int, day: int, seq: int, most: int) -> int:
        old = "SELECT seq FROM journal WHERE task = ? AND seq <= ? AND day < ? ORDER BY seq LIMIT ?"
        return self._journal.execute(f"DELETE FROM journal WHERE seq IN ({old})", (task, seq, day, most)).rowcount

    def forget_ids(self, task: int, day: int, after: bytes, most: int) -> bytes | None:
        """In their own order, which is that of the pages: by the age of the reports each would change another page."""
        next_ones = "SELECT id FROM ids WHERE task = ? AND id > ? ORDER BY id LIMIT ?"
        last = self._journal.execute(f"SELECT max(id) FROM ({next_ones})", (task, after, most)).fetchone()[0]
        if last is not None:
            old = "task = ? AND id > ? AND id <= ? AND day < ?"
            self._journal.execute(f"DELETE FROM ids WHERE {old}", (task, after, last, day))
        return last

    def probe(self) -> None:
        with contextlib.suppress(sqlite3.OperationalError):
            self._journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # gives back what the log takes of the disk
        self._journal.execute(f"PRAGMA user_version = {FORMAT}")  # written and synced, though it is the same

    # --- the learner writes ------------------------------------------------------------------------------------------

    def publish(self, task: int, publication: Publication, now: int, closed: int) -> None:
        older = (task, publication.learned)
        before, useless = "task = ? AND learned < ?", "memo = x'' AND (superseded < ? OR version = '')"
        with _transaction(self._learned) as run:
            run(f"UPDATE publications SET superseded = ?, body = x'' WHERE superseded = 0 AND {before}", (now, *older))
            run(f"DELETE FROM publications WHERE {before} AND {useless}", (*older, closed))
            run("INSERT OR REPLACE INTO publications VALUES (?, ?, ?, ?, ?, ?)", (task, *publication))

    def save(self, task: int, snapshot: Snapshot) -> None:
        self._learned.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?)", (task, *snapshot))
        if snapshot.base:
            self._learned.execute("PRAGMA wal_checkpoint")  # syncs: what it stands for will be gone from the journal

    def leave_out(self, task: int, entries: Sequence[Unread]) -> None:
        with _transaction(self._learned):
            rows = [(task, *entry) for entry in entries]
            self._learned.executemany("INSERT OR IGNORE INTO unread VALUES (?, ?, ?)", rows)

    # --- both read ---------------------------------------------------------------------------------------------------

    def tasks(self, after: int = 0) -> list[TaskRow]:
        wanted = "SELECT number, contract, mode, paused FROM tasks WHERE number > ? ORDER BY number"
        rows = self._journal.execute(wanted, (after,)).fetchall()
        return [TaskRow(number, body, mode, bool(paused)) for number, body, mode, paused in rows]

    def count(self, task: int) -> tuple[int, int]:
        return self._journal.execute("SELECT reports, warm FROM counts WHERE task = ?", (task,)).fetchone()

    def oldest(self, task: int) -> int | None:
        row = self._journal.execute("SELECT day FROM journal WHERE task = ? ORDER BY seq LIMIT 1", (task,)).fetchone()
        return row[0] if row else None

    def entries(self, after: int, most: int, task: int | None = None) -> list[Entry]:
        whose, which = ("", (after, most)) if task is None else ("task = ? AND", (task, after, most))
        rows = self._journal.execute(f"SELECT * FROM journal WHERE {whose} seq > ? ORDER BY seq LIMIT ?", which)
        return [Entry(row[0], Journalled._make(row[1:])) for row in rows.fetchall()]

    def entries_of(self, task: int, after: int) -> Iterator[Entry]:
        while found := self.entries(after, READ, task):
            yield from found
            after = found[-1].seq

    def last(self, task: int | None = None) -> int:
        whose = "" if task is None else "WHERE task = ?"
        found = self._journal.execute(
            f"SELECT coalesce(max(seq), 0) FROM journal {whose}", () if task is None else (task,)
        )
        return found.fetchone()[0]

    def unread(self, task: int) -> int:
        return self._learned.execute("SELECT count(*) FROM unread WHERE task = ?", (task,)).fetchone()[0]

    def publications(self, task: int, after: int = -1) -> list[Publication]:
        wanted = f"SELECT {', '.join(Publication._fields)} FROM publications"
        rows = self._learned.execute(f"{wanted} WHERE task = ? AND learned > ? ORDER BY learned", (task, after))
        return [Publication(*row) for row in rows.fetchall()]

    def snapshot(self, task: int, base: bool = False) -> Snapshot | None:
        wanted = ", ".join(Snapshot._fields)
        row = self._learned.execute(f"SELECT {wanted} FROM snapshots WHERE task = ? AND base = ?", (task, base))
        found = row.fetchone()
        return Snapshot(*found) if found else None


def _open(path: Path, schema: str, *, durable: bool) -> sqlite3.Connection:
    try:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))  # its owner's alone; SQLite's other files follow it
        connection = sqlite3.connect(
            path, BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=2 * INSERTED_AT_ONCE
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        if durable:
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # `tidy` does it: no commit should wait for it
        if _is_new(path, connection):
            connection.executescript(f"BEGIN IMMEDIATE; {schema} PRAGMA user_version = {FORMAT}; COMMIT;")
    except (OSError, sqlite3.Error) as error:
        raise ConfigurationError(f"cannot use {path}: {error}") from error
    return connection


def _is_new(path: Path, connection: sqlite3.Connection) -> bool:
    """Has it no tables yet? A file of another version is refused by name."""
    both = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
    found, tables = connection.execute(both).fetchone()
    if tables and found != FORMAT:
        writer = "Sottovoce 0.1" if found == 0 else f"another version of Sottovoce (format {found})"
        connection.close()
        raise ConfigurationError(
            f"{path} was written by {writer}, which keeps its data in another way; choose another --data folder, or go "
            "on with the version that wrote it"
        )
    return not tables


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[Callable[..., sqlite3.Cursor]]:
    """All or nothing: what runs statements, until the context ends."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection.execute
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it
            connection.execute("ROLLBACK")
        raise
