"""The embedded store: two SQLite files in one folder, write-ahead logged, no server and nothing to install.

`journal.sqlite` is written by the web process alone and synced at every commit: an acknowledged report survives the
loss of power. `learned.sqlite` is written by the learner alone; all of it can be computed again from the journal.
"""

import contextlib
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store.base import WARM, Entry, Journalled, Mode, Publication, Snapshot, TaskRow

FORMAT = 2
"""Of both files, kept in SQLite's `user_version`. Sottovoce 0.1 left it at 0."""

JOURNAL = """
CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, contract BLOB NOT NULL, mode TEXT NOT NULL,
  paused INTEGER NOT NULL DEFAULT 0, forgotten INTEGER NOT NULL DEFAULT 0, forgotten_warm INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS journal (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL, id BLOB NOT NULL, day INTEGER NOT NULL,
  gate INTEGER NOT NULL, context BLOB NOT NULL, payload BLOB NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS once ON journal (task, id);
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
"""

INSERT = f"""
INSERT INTO journal ({", ".join(Journalled._fields)}) VALUES ({", ".join("?" * len(Journalled._fields))})
ON CONFLICT (task, id) DO NOTHING
"""

LONGEST_LOG = 2**16
"""Pages of four kilobytes: a quarter of a gigabyte."""


class SqliteStore:
    """A `Store` in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
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
        done = self._journal.execute("INSERT INTO tasks (id, contract, mode) VALUES (?, ?, ?)", (id, body, mode))
        assert done.lastrowid is not None
        return TaskRow(done.lastrowid, body, mode, False)

    def change(self, number: int, mode: Mode, paused: bool) -> None:
        self._journal.execute("UPDATE tasks SET mode = ?, paused = ? WHERE number = ?", (mode, paused, number))

    def append(self, reports: Sequence[Journalled]) -> list[bool]:
        with _transaction(self._journal) as run:
            (last,) = run("SELECT coalesce(max(seq), 0) FROM journal").fetchone()
            fresh = self._journal.executemany(INSERT, reports).rowcount
            if fresh == len(reports):
                return [True] * fresh
            new = dict.fromkeys(run("SELECT task, id FROM journal WHERE seq > ?", (last,)).fetchall(), True)
        return [new.pop((report.task, report.id), False) for report in reports]  # one batch may hold a report twice

    def tidy(self) -> None:
        """Move what was written from the write-ahead log into the journal's file.

        A log that is always in use never starts anew, so the writer waits once for one that has become too long.
        """
        _, pages, _ = self._journal.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if pages > LONGEST_LOG:
            self._journal.execute("PRAGMA wal_checkpoint(RESTART)")

    def forget(self, task: int, day: int, seq: int) -> int:
        old, which = "journal WHERE task = ? AND day < ? AND seq <= ?", (task, day, seq)
        counted = "forgotten = forgotten + ?, forgotten_warm = forgotten_warm + ?"
        with _transaction(self._journal) as run:
            gone, warm = run(f"SELECT count(*), coalesce(sum(gate = {WARM}), 0) FROM {old}", which).fetchone()
            run(f"DELETE FROM {old}", which)
            run(f"UPDATE tasks SET {counted} WHERE number = ?", (gone - warm, warm, task))
        return gone

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

    # --- both read ---------------------------------------------------------------------------------------------------

    def tasks(self, after: int = 0) -> list[TaskRow]:
        wanted = "SELECT number, contract, mode, paused FROM tasks WHERE number > ? ORDER BY number"
        rows = self._journal.execute(wanted, (after,)).fetchall()
        return [TaskRow(number, body, mode, bool(paused)) for number, body, mode, paused in rows]

    def count(self, task: int) -> tuple[int, int]:
        kept = f"SELECT coalesce(sum(gate != {WARM}), 0), coalesce(sum(gate = {WARM}), 0) FROM journal WHERE task = ?"
        reports, warm = self._journal.execute(kept, (task,)).fetchone()
        gone = self._journal.execute("SELECT forgotten, forgotten_warm FROM tasks WHERE number = ?", (task,)).fetchone()
        return reports + gone[0], warm + gone[1]

    def oldest(self, task: int) -> int | None:
        row = self._journal.execute("SELECT day FROM journal WHERE task = ? ORDER BY seq LIMIT 1", (task,)).fetchone()
        return row[0] if row else None

    def entries(self, after: int, most: int) -> list[Entry]:
        rows = self._journal.execute("SELECT * FROM journal WHERE seq > ? ORDER BY seq LIMIT ?", (after, most))
        return [Entry(seq, Journalled(*report)) for seq, *report in rows.fetchall()]

    def entries_of(self, task: int, after: int) -> Iterator[Entry]:
        while found := self.entries(after, 4096):
            yield from (entry for entry in found if entry.report.task == task)
            after = found[-1].seq

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
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        if durable:
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # `tidy` does it: no commit should wait for it
        if _is_new(path, connection):
            connection.executescript(f"BEGIN IMMEDIATE; {schema} PRAGMA user_version = {FORMAT}; COMMIT;")
    except sqlite3.Error as error:
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
