"""What a shuffler keeps, in one SQLite file: reports that wait, batches that leave, and which permits were used.

A report is on disk before its device is told so. It is in one of two tables: `waiting`, until there are enough of its
group, or `leaving`, from then until the server has said that it has the batch. One transaction moves it. There it gets
the name under which the server will know it, so a batch that is sent again has the same names and is counted once.

Nothing here ties a report to its permit: `used` has the permits' ids and the day, `waiting` has reports under random
keys, and both are sorted by their keys, so that the order of arrival is not kept. Addresses are never written.
Deleted rows are overwritten.
"""

import secrets
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sottovoce.protocol.permits import REPORT_ID_BYTES
from sottovoce.server.store.base import Journalled
from sottovoce.server.store.faults import telling_faults
from sottovoce.server.store.files import format_of, open_file, passing, transaction, write_format
from sottovoce.server.store.migrations import Migration

FILE = "shuffler.sqlite"
MIGRATIONS = (
    Migration(1, 1, "The first format.", (
        "CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL)",
        """CREATE TABLE tasks (
             number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, contract BLOB NOT NULL,
             status BLOB NOT NULL DEFAULT x'', model BLOB NOT NULL DEFAULT x''
           )""",
        """CREATE TABLE versions (
             task INTEGER NOT NULL, version BLOB NOT NULL, superseded INTEGER NOT NULL, PRIMARY KEY (task, version)
           ) WITHOUT ROWID""",
        """CREATE TABLE used (
             task INTEGER NOT NULL, id BLOB NOT NULL, day INTEGER NOT NULL, PRIMARY KEY (task, id)
           ) WITHOUT ROWID""",
        """CREATE TABLE waiting (
             task INTEGER NOT NULL, version BLOB NOT NULL, gate INTEGER NOT NULL, place BLOB NOT NULL,
             payload BLOB NOT NULL, PRIMARY KEY (task, version, gate, place)
           ) WITHOUT ROWID""",
        """CREATE TABLE leaving (
             batch INTEGER NOT NULL, name BLOB NOT NULL, task INTEGER NOT NULL, version BLOB NOT NULL,
             gate INTEGER NOT NULL, payload BLOB NOT NULL, PRIMARY KEY (batch, name)
           ) WITHOUT ROWID""",
    )),
)  # fmt: skip
PLACE_BYTES = 16
PAGES = 1000
"""Of the write-ahead log, after which it is written back: it holds what was deleted no longer than that."""


class Group(NamedTuple):
    """Reports that the server cannot tell apart by anything but coin and payload."""

    task: int
    version: bytes
    gate: int


class KeptTask(NamedTuple):
    number: int
    contract: bytes
    status: bytes
    """As the server last said; empty before."""
    model: bytes


class Named(NamedTuple):
    """A report of a batch."""

    name: bytes
    payload: bytes
    """The coin, then what the device sent."""


@telling_faults(sqlite3.OperationalError, passing)
class Journal:
    """One file in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = open_file(folder / FILE, MIGRATIONS, durable=True)
        self._file.execute(f"PRAGMA wal_autocheckpoint = {PAGES}")
        self._file.execute("PRAGMA secure_delete = ON")

    def close(self) -> None:
        self._file.close()

    def probe(self) -> None:
        with transaction(self._file):
            write_format(self._file, format_of(self._file))  # written and synced, though it is the same

    def secret(self, name: str) -> bytes:
        """Random bytes under this name, the same for ever."""
        known = "SELECT value FROM secrets WHERE name = ?"
        if not self._file.execute(known, (name,)).fetchone():
            self._file.execute("INSERT OR IGNORE INTO secrets VALUES (?, ?)", (name, secrets.token_bytes(32)))
        return self._file.execute(known, (name,)).fetchone()[0]

    # --- tasks -------------------------------------------------------------------------------------------------------

    def task(self, id: str) -> KeptTask | None:
        wanted = "SELECT number, contract, status, model FROM tasks WHERE id = ?"
        found = self._file.execute(wanted, (id,)).fetchone()
        return KeptTask(*found) if found else None

    def pin(self, id: str, contract: bytes) -> KeptTask:
        """From now on the task has this contract or none."""
        number = self._file.execute("INSERT INTO tasks (id, contract) VALUES (?, ?)", (id, contract)).lastrowid
        assert number is not None
        return KeptTask(number, contract, b"", b"")

    def keep_news(self, task: int, status: bytes, model: bytes, version: str, now: int) -> None:
        """What the server said last; another version than before is the newest."""
        with transaction(self._file) as run:
            run("UPDATE tasks SET status = ?, model = ? WHERE number = ?", (status, model, task))
            if version:
                newest = bytes.fromhex(version)
                run("UPDATE versions SET superseded = ? WHERE task = ? AND version != ? AND superseded = 0",
                    (now, task, newest))  # fmt: skip
                run("INSERT OR REPLACE INTO versions VALUES (?, ?, 0)", (task, newest))

    def versions(self, task: int) -> dict[str, int]:
        """When each was superseded; 0 for the newest."""
        rows = self._file.execute("SELECT version, superseded FROM versions WHERE task = ?", (task,))
        return {version.hex(): superseded for version, superseded in rows.fetchall()}

    # --- reports -----------------------------------------------------------------------------------------------------

    def append(self, reports: Sequence[Journalled], hour: int = 0) -> list[bool]:
        """True for those whose permit was not used before; `hour` is not kept."""
        with transaction(self._file):
            return [self._take(report) for report in reports]

    def _take(self, report: Journalled) -> bool:
        run = self._file.execute
        used = run("INSERT OR IGNORE INTO used VALUES (?, ?, ?)", (report.task, report.id, report.day))
        if not used.rowcount:
            return False
        place = secrets.token_bytes(PLACE_BYTES)
        waits = (report.task, report.context, report.gate, place, report.payload)
        run("INSERT INTO waiting VALUES (?, ?, ?, ?, ?)", waits)
        return True

    def groups(self) -> dict[Group, int]:
        """How many reports of each group wait."""
        rows = self._file.execute("SELECT task, version, gate, count(*) FROM waiting GROUP BY task, version, gate")
        return {Group(task, version, gate): count for task, version, gate, count in rows.fetchall()}

    def mix(self, group: Group, least: int, most: int) -> int:
        """Make a batch of those that wait, if there are enough; how many it has.

        Which ones, where there are more than `most`, is decided by their random places.
        """
        which = "task = ? AND version = ? AND gate = ?"
        with transaction(self._file) as run:
            wanted = f"SELECT place, payload FROM waiting WHERE {which} ORDER BY place LIMIT ?"
            found = run(wanted, (*group, most)).fetchall()
            if len(found) < least:
                return 0
            batch = run("SELECT coalesce(max(batch), 0) + 1 FROM leaving").fetchone()[0]
            names = [secrets.token_bytes(REPORT_ID_BYTES) for _ in found]
            rows = [(batch, name, *group, payload) for name, (_, payload) in zip(names, found, strict=True)]
            self._file.executemany("INSERT INTO leaving VALUES (?, ?, ?, ?, ?, ?)", rows)
            run(f"DELETE FROM waiting WHERE {which} AND place <= ?", (*group, found[-1][0]))
        return len(found)

    def batches(self) -> list[tuple[int, Group]]:
        """Those that the server has not acknowledged, the oldest first."""
        rows = self._file.execute("SELECT DISTINCT batch, task, version, gate FROM leaving ORDER BY batch")
        return [(batch, Group(*group)) for batch, *group in rows.fetchall()]

    def batch(self, number: int) -> list[Named]:
        """In the order of their names, which is random and the same each time."""
        rows = self._file.execute("SELECT name, payload FROM leaving WHERE batch = ? ORDER BY name", (number,))
        return [Named(*row) for row in rows.fetchall()]

    def settle(self, number: int) -> None:
        """The server has judged this batch."""
        self._file.execute("DELETE FROM leaving WHERE batch = ?", (number,))

    # --- forgetting --------------------------------------------------------------------------------------------------

    def lapse(self, task: int, before: int) -> int:
        """Delete versions that were superseded before then, which nobody takes; how many reports are lost."""
        old = "SELECT version FROM versions WHERE task = ? AND superseded > 0 AND superseded < ?"
        with transaction(self._file) as run:
            lost = sum(
                run(f"DELETE FROM {table} WHERE task = ? AND version IN ({old})", (task, task, before)).rowcount
                for table in ("waiting", "leaving")
            )
            run("DELETE FROM versions WHERE task = ? AND superseded > 0 AND superseded < ?", (task, before))
        return lost

    def forget_used(self, task: int, day: int) -> None:
        """Permits that came back before this day have expired by now."""
        self._file.execute("DELETE FROM used WHERE task = ? AND day < ?", (task, day))
