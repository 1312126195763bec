"""The embedded store: two SQLite files in one folder, write-ahead logged, no server and nothing to install.

`journal.sqlite` is written by the web process alone and synced at every commit: an acknowledged report survives the
loss of power. `learned.sqlite` is written by the learner alone; all of it can be computed again from the journal.
"""

import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from sottovoce.protocol.contract import Contract, Status
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store import WARM, Entry, Publication, Report, Snapshot, TaskRow

JOURNAL = """
CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, contract BLOB NOT NULL, status BLOB NOT NULL,
  forgotten INTEGER NOT NULL DEFAULT 0
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
INSERT INTO journal ({", ".join(Report._fields)}) VALUES ({", ".join("?" * len(Report._fields))})
ON CONFLICT (task, id) DO NOTHING
"""


LONGEST_LOG = 2**16
"""Pages of four kilobytes."""


class SqliteStore:
    """See the module's first lines. One object per process or thread that uses it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._journal = _open(folder / "journal.sqlite", JOURNAL, durable=True)
        self._learned = _open(folder / "learned.sqlite", LEARNED, durable=False)

    def close(self) -> None:
        self._journal.close()
        self._learned.close()

    # --- the web process writes --------------------------------------------------------------------------------------

    def secret(self, name: str) -> bytes:
        self._journal.execute("INSERT OR IGNORE INTO secrets VALUES (?, ?)", (name, secrets.token_bytes(32)))
        return self._journal.execute("SELECT value FROM secrets WHERE name = ?", (name,)).fetchone()[0]

    def create(self, contract: Contract, status: Status) -> TaskRow:
        row = (contract.id, msgspec.json.encode(contract), msgspec.json.encode(status))
        done = self._journal.execute("INSERT INTO tasks (id, contract, status) VALUES (?, ?, ?)", row)
        assert done.lastrowid is not None
        return TaskRow(done.lastrowid, contract, status)

    def set_status(self, number: int, status: Status) -> None:
        self._journal.execute("UPDATE tasks SET status = ? WHERE number = ?", (msgspec.json.encode(status), number))

    def append(self, reports: Sequence[Report]) -> list[bool]:
        journal = self._journal
        journal.execute("BEGIN IMMEDIATE")
        try:
            last = self._last()
            fresh = journal.executemany(INSERT, reports).rowcount
            new = None if fresh == len(reports) else self._since(last)
            journal.execute("COMMIT")
        except BaseException:
            journal.execute("ROLLBACK")
            raise
        return [True] * fresh if new is None else [_take(new, (report.task, report.id)) for report in reports]

    def checkpoint(self) -> None:
        """Move what was written from the log into the journal's file, without holding up those who write.

        A log that never rests never starts anew, so the writer waits once for one that has become too long.
        """
        _, pages, _ = self._journal.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if pages > LONGEST_LOG:
            self._journal.execute("PRAGMA wal_checkpoint(RESTART)")

    def forget(self, task: int, day: int, seq: int) -> int:
        journal = self._journal
        journal.execute("BEGIN IMMEDIATE")
        gone = journal.execute("DELETE FROM journal WHERE task = ? AND day < ? AND seq <= ?", (task, day, seq)).rowcount
        journal.execute("UPDATE tasks SET forgotten = forgotten + ? WHERE number = ?", (gone, task))
        journal.execute("COMMIT")
        return gone

    # --- the learner writes ------------------------------------------------------------------------------------------

    def publish(self, task: int, publication: Publication, now: int, closed: int) -> None:
        run, older = self._learned.execute, (task, publication.learned)
        run("BEGIN IMMEDIATE")
        before, useless = "task = ? AND learned < ?", "memo = x'' AND (superseded < ? OR version = '')"
        run(f"UPDATE publications SET superseded = ?, body = x'' WHERE superseded = 0 AND {before}", (now, *older))
        run(f"DELETE FROM publications WHERE {before} AND {useless}", (*older, closed))
        run("INSERT OR REPLACE INTO publications VALUES (?, ?, ?, ?, ?, ?)", (task, *publication))
        run("COMMIT")

    def save(self, task: int, snapshot: Snapshot) -> None:
        self._learned.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?)", (task, *snapshot))
        if snapshot.base:
            self._learned.execute("PRAGMA wal_checkpoint")  # syncs: what it stands for will be gone from the journal

    # --- both read ---------------------------------------------------------------------------------------------------

    def tasks(self, after: int = 0) -> list[TaskRow]:
        wanted = "SELECT number, contract, status FROM tasks WHERE number > ? ORDER BY number"
        rows = self._journal.execute(wanted, (after,)).fetchall()
        return [
            TaskRow(number, msgspec.json.decode(contract, type=Contract), msgspec.json.decode(status, type=Status))
            for number, contract, status in rows
        ]

    def count(self, task: int) -> tuple[int, int]:
        counts = "SELECT count(*), coalesce(sum(gate = ?), 0) FROM journal WHERE task = ?"
        kept, warm = self._journal.execute(counts, (WARM, task)).fetchone()
        (gone,) = self._journal.execute("SELECT forgotten FROM tasks WHERE number = ?", (task,)).fetchone()
        return kept + gone, warm

    def oldest(self, task: int) -> int | None:
        row = self._journal.execute("SELECT day FROM journal WHERE task = ? ORDER BY seq LIMIT 1", (task,)).fetchone()
        return row[0] if row else None

    def entries(self, after: int, most: int) -> list[Entry]:
        rows = self._journal.execute("SELECT * FROM journal WHERE seq > ? ORDER BY seq LIMIT ?", (after, most))
        return [Entry(seq, Report(*report)) for seq, *report in rows.fetchall()]

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

    def _last(self) -> int:
        return self._journal.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchone()[0]

    def _since(self, seq: int) -> set[tuple[int, bytes]]:
        return set(self._journal.execute("SELECT task, id FROM journal WHERE seq > ?", (seq,)).fetchall())


def _open(path: Path, schema: str, *, durable: bool) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        if durable:
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # see `checkpoint`: nobody's commit should wait for it
        connection.executescript(schema)
    except sqlite3.Error as error:
        raise ConfigurationError(f"cannot use {path}: {error}") from error
    return connection


def _take(new: set[tuple[int, bytes]], key: tuple[int, bytes]) -> bool:
    """True the first time only: one batch may hold a report twice."""
    try:
        new.remove(key)
    except KeyError:
        return False
    return True
