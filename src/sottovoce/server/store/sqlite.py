"""The embedded store: two SQLite files in one folder, write-ahead logged, no server and nothing to install.

`journal.sqlite` is written by the web process alone and synced at every commit: an acknowledged report survives the
loss of power. `learned.sqlite` is written by the learner alone; all of it can be computed again from the journal, but
for the snapshot that replay starts from and for what was rolled back: these are synced too.
"""

import contextlib
import itertools
import operator
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from sottovoce.server.store import sqlite_actions
from sottovoce.server.store.base import (
    DAY_HOURS,
    Action,
    Entry,
    Gap,
    Journalled,
    Kept,
    Mode,
    Publication,
    Snapshot,
    Standing,
    Tally,
    TaskRow,
    Unread,
    Walked,
)
from sottovoce.server.store.faults import telling_faults
from sottovoce.server.store.files import (
    BUSY_SECONDS,
    Place,
    format_of,
    open_file,
    passing,
    sync_open,
    transaction,
    write_format,
)
from sottovoce.server.store.sqlite_migrations import ADD, FILES, JOURNAL_FILE

INSERT = f"INSERT INTO journal ({', '.join(Journalled._fields)}) VALUES {{}}"
ROW = f"({', '.join('?' * len(Journalled._fields))})"
INSERTED_AT_ONCE = 128
"""Rows of one statement. A statement runs beside the event loop; between two statements both wait for each other.
SQLite prepares one for each number of rows, and keeps them."""

NEWEST_LAST = "ORDER BY superseded = 0, learned"
SAVE = f"""INSERT INTO snapshots (task, {", ".join(Snapshot._fields)}) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (task, seq) DO UPDATE SET learned = excluded.learned, published = excluded.published,
state = excluded.state, base = max(base, excluded.base), day = excluded.day"""
"""A base stays one when the same place is saved again."""
DROP = "DELETE FROM snapshots WHERE task = ? AND seq = ? AND NOT base"
NEWEST_ONE = "ORDER BY seq DESC LIMIT 1"
LONGEST_LOG = 2**14
"""Pages of four kilobytes, 64 megabytes: a log that starts anew is written over, which is synced twice as fast as
one that grows."""
TIDY_MILLISECONDS = 20
"""How long a log that starts anew may wait for those who read it, while nobody writes; else it does so later."""
READ = 4096
"""Entries of one task read at once."""


@telling_faults(sqlite3.DatabaseError, passing)
class SqliteStore:
    """A `Store` in a folder."""

    shared = False

    def __init__(self, folder: Path, *, make: bool = True) -> None:
        self._folder, self._hour = folder, -1
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._journal, self._learned = (
            open_file(folder / name, migrations, durable=name == JOURNAL_FILE, make=make)
            for name, migrations in FILES.items()
        )
        self._place = Place(folder / JOURNAL_FILE)

    def clone(self) -> "SqliteStore":
        return SqliteStore(self._folder, make=False)

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
        with transaction(self._journal) as run:
            number = run("INSERT INTO tasks (id, contract, mode) VALUES (?, ?, ?)", (id, body, mode)).lastrowid
            run("INSERT INTO counts VALUES (?, 0, 0)", (number,))
        assert number is not None
        return TaskRow(number, body, mode, False)

    def change(self, number: int, mode: Mode, paused: bool) -> None:
        self._journal.execute("UPDATE tasks SET mode = ?, paused = ? WHERE number = ?", (mode, paused, number))

    def predict(self, number: int, prediction: bytes) -> None:
        self._journal.execute("UPDATE tasks SET prediction = ? WHERE number = ?", (prediction, number))

    def append(self, reports: Sequence[Journalled], hour: int = 0) -> list[bool]:
        self._place.check()
        if hour != self._hour:
            self._journal.execute("UPDATE clock SET hour = ?", (hour,))
            self._hour = hour
        ordered = sorted(reports, key=operator.attrgetter("id"))
        groups = [ordered[at : at + INSERTED_AT_ONCE] for at in range(0, len(ordered), INSERTED_AT_ONCE)]
        # one statement alone is a transaction too, and a third cheaper than one that could be undone by itself
        with transaction(self._journal) if len(groups) > 1 else contextlib.nullcontext():
            inserted = sum(self._insert(group) for group in groups)
        return [True] * inserted if inserted == len(reports) else self._which(reports, inserted)

    def _which(self, reports: Sequence[Journalled], inserted: int) -> list[bool]:
        """Which of the reports are among the newest so many entries; a batch may hold one twice."""
        newest = self._journal.execute("SELECT task, id FROM journal ORDER BY seq DESC LIMIT ?", (inserted,))
        new = dict.fromkeys(newest.fetchall(), True)
        return [new.pop((report.task, report.id), False) for report in reports]

    def _insert(self, reports: Sequence[Journalled]) -> int:
        """How many were not there."""
        rows = ", ".join([ROW] * len(reports))
        return self._journal.execute(INSERT.format(rows), [*itertools.chain(*reports)]).rowcount

    def tally(self, tallies: Sequence[Tally]) -> None:
        with transaction(self._journal):
            self._journal.executemany(f"INSERT INTO history VALUES (?, ?, ?, ?) {ADD}", tallies)

    def thin(self, hourly: int, first: int) -> None:
        single = f"hour < ? AND hour % {DAY_HOURS}"
        days = f"SELECT task, hour - hour % {DAY_HOURS}, verdict, sum(reports) FROM history WHERE {single}"
        with transaction(self._journal) as run:
            run(f"INSERT INTO history {days} GROUP BY 1, 2, 3 {ADD}", (hourly,))
            run(f"DELETE FROM history WHERE {single} OR hour < ?", (hourly, first))
            sqlite_actions.forget_actions(self._journal, first)

    def record(self, action: Action) -> int:
        return sqlite_actions.record(self._journal, action)

    def amend(self, number: int, status: int, detail: bytes) -> None:
        sqlite_actions.amend(self._journal, number, status, detail)

    def admit(self, task: int, id: bytes, expires: int, now: int) -> bool:
        return sqlite_actions.admit(self._journal, task, id, expires, now)

    def tidy(self) -> None:
        """Move what was written from the write-ahead log into the journal's file; let a long log start anew.

        For that nobody may write while what is left is moved and synced. So nearly all is moved and synced before.
        """
        self._place.check()
        _, pages, _ = self._checkpoint("PASSIVE")
        if pages > LONGEST_LOG:
            for _ in range(2):
                sync_open(self._folder / JOURNAL_FILE)
                self._checkpoint("PASSIVE")
            self._journal.execute(f"PRAGMA busy_timeout = {TIDY_MILLISECONDS}")
            self._checkpoint("RESTART")
            self._journal.execute(f"PRAGMA busy_timeout = {1000 * BUSY_SECONDS:.0f}")

    def _checkpoint(self, mode: str) -> tuple[int, int, int]:
        """Was somebody in the way, pages of the log, and how many of them have been moved."""
        return self._journal.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()

    def forget(self, task: int, day: int, after: int, seq: int, most: int) -> Walked | None:
        next_ones = "SELECT seq FROM journal WHERE task = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
        (last,) = self._journal.execute(f"SELECT max(seq) FROM ({next_ones})", (task, after, seq, most)).fetchone()
        if last is None:
            return None
        old = "task = ? AND seq > ? AND seq <= ? AND day < ?"
        gone = self._journal.execute(f"DELETE FROM journal WHERE {old}", (task, after, last, day)).rowcount
        return Walked(last, gone)

    def forget_ids(self, task: int, day: int, after: bytes, most: int) -> bytes | None:
        """In their own order, which is that of the pages: by the age of the reports each would change another page."""
        next_ones = "SELECT id FROM ids WHERE task = ? AND id > ? ORDER BY id LIMIT ?"
        last = self._journal.execute(f"SELECT max(id) FROM ({next_ones})", (task, after, most)).fetchone()[0]
        if last is not None:
            old = "task = ? AND id > ? AND id <= ? AND day < ?"
            self._journal.execute(f"DELETE FROM ids WHERE {old}", (task, after, last, day))
        return last

    def probe(self) -> None:
        self._place.check()
        with contextlib.suppress(sqlite3.OperationalError):
            self._journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # gives back what the log takes of the disk
        with transaction(self._journal):
            write_format(self._journal, format_of(self._journal))  # written and synced, though it is the same

    # --- the learner writes ------------------------------------------------------------------------------------------

    def order(self, most: int) -> int:
        """The one process that appends has given all their places."""
        return 0

    def publish(self, task: int, publication: Publication, now: int, closed: int) -> None:
        with transaction(self._learned):
            self._publish(task, publication, now, closed, "learned < ?", (publication.learned,))

    def roll_back(
        self, task: int, gap: Gap, snapshot: Snapshot, publication: Publication, now: int, closed: int
    ) -> None:
        with transaction(self._learned) as run:
            run("DELETE FROM gaps WHERE task = ? AND after_seq >= ?", (task, gap.after))
            run("INSERT INTO gaps VALUES (?, ?, ?, ?)", (task, *gap))
            run("DELETE FROM snapshots WHERE task = ? AND seq > ?", (task, gap.after))
            run(SAVE, (task, *snapshot))
            self._publish(task, publication, now, closed, "true", ())
        self._learned.execute("PRAGMA wal_checkpoint")  # syncs: nothing else says that it was rolled back

    def _publish(
        self, task: int, publication: Publication, now: int, closed: int, older: str, than: tuple[int, ...]
    ) -> None:
        """What is `older` is superseded, or forgotten."""
        before, useless = f"task = ? AND {older}", "memo = x'' AND (superseded < ? OR version = '')"
        run, which = self._learned.execute, (task, *than)
        run(f"UPDATE publications SET superseded = ?, body = x'' WHERE superseded = 0 AND {before}", (now, *which))
        run(f"DELETE FROM publications WHERE {before} AND {useless}", (*which, closed))
        run("INSERT OR REPLACE INTO publications VALUES (?, ?, ?, ?, ?, ?)", (task, *publication))

    def save(self, task: int, snapshot: Snapshot, gone: Sequence[int] = ()) -> None:
        with transaction(self._learned) as run:
            run(SAVE, (task, *snapshot))
            if snapshot.base:
                run("DELETE FROM snapshots WHERE task = ? AND seq < ?", (task, snapshot.seq))
            self._learned.executemany(DROP, [(task, seq) for seq in gone])
        if snapshot.base:
            self._learned.execute("PRAGMA wal_checkpoint")  # syncs: what it stands for will be gone from the journal

    def leave_out(self, task: int, entries: Sequence[Unread]) -> None:
        with transaction(self._learned):
            rows = [(task, *entry) for entry in entries]
            self._learned.executemany("INSERT OR IGNORE INTO unread VALUES (?, ?, ?)", rows)

    # --- both read ---------------------------------------------------------------------------------------------------

    def tasks(self, after: int = 0) -> list[TaskRow]:
        wanted = "SELECT number, contract, mode, paused, prediction FROM tasks WHERE number > ? ORDER BY number"
        rows = self._journal.execute(wanted, (after,)).fetchall()
        return [TaskRow(number, body, mode, bool(paused), about) for number, body, mode, paused, about in rows]

    def standings(self) -> list[Standing]:
        wanted = "SELECT number, mode, paused, reports, warm FROM tasks JOIN counts ON task = number ORDER BY number"
        rows = self._journal.execute(wanted).fetchall()
        return [Standing(number, mode, bool(paused), *counts) for number, mode, paused, *counts in rows]

    def count(self, task: int) -> tuple[int, int]:
        return self._journal.execute("SELECT reports, warm FROM counts WHERE task = ?", (task,)).fetchone()

    def history(self, task: int) -> list[Tally]:
        wanted = f"SELECT {', '.join(Tally._fields)} FROM history WHERE task = ? ORDER BY hour, verdict"
        return [Tally._make(row) for row in self._journal.execute(wanted, (task,)).fetchall()]

    def actions(self, task: str, before: int, most: int) -> list[Action]:
        return sqlite_actions.actions(self._journal, task, before, most)

    def walk(self, task: int, day: int, after: int, most: int) -> Walked | None:
        next_ones = "SELECT seq, day FROM journal WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?"
        wanted = f"SELECT max(seq), sum(day < ?) FROM ({next_ones})"
        found = self._journal.execute(wanted, (day, task, after, most)).fetchone()
        return None if found[0] is None else Walked(*found)

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

    def gaps(self, task: int) -> list[Gap]:
        wanted = "SELECT after_seq, until_seq, reports FROM gaps WHERE task = ? ORDER BY after_seq"
        return [Gap._make(row) for row in self._learned.execute(wanted, (task,)).fetchall()]

    def unread(self, task: int) -> int:
        return self._learned.execute("SELECT count(*) FROM unread WHERE task = ?", (task,)).fetchone()[0]

    def publications(self, task: int, after: int = -1) -> list[Publication]:
        wanted = f"SELECT {', '.join(Publication._fields)} FROM publications"
        rows = self._learned.execute(f"{wanted} WHERE task = ? AND learned > ? {NEWEST_LAST}", (task, after))
        return [Publication(*row) for row in rows.fetchall()]

    def snapshot(self, task: int, base: bool = False, most: int | None = None) -> Snapshot | None:
        which = "base" if base else "true" if most is None else "learned <= ?"
        wanted = f"SELECT {', '.join(Snapshot._fields)} FROM snapshots WHERE task = ? AND {which} {NEWEST_ONE}"
        found = self._learned.execute(wanted, (task,) if most is None else (task, most)).fetchone()
        return Snapshot(*found)._replace(base=bool(found[-2])) if found else None

    def snapshots(self, task: int) -> list[Kept]:
        wanted = f"SELECT {', '.join(Kept._fields)} FROM snapshots WHERE task = ? ORDER BY seq"
        rows = self._learned.execute(wanted, (task,)).fetchall()
        return [Kept(learned, seq, bool(base), day) for learned, seq, base, day in rows]
