"""A `Store` in a PostgreSQL database. Its methods may be called from any thread.

Web processes write tasks and, into the inbox, reports. The elected learner writes everything else, each time within a
transaction that fails if another one was elected meanwhile.
"""

import contextlib
import operator
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
from psycopg import sql
from psycopg.errors import LockNotAvailable

from sottovoce.server.store.base import (
    DAY_HOURS,
    Action,
    Deposed,
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
)
from sottovoce.server.store.faults import telling_faults
from sottovoce.server.store.postgres import actions
from sottovoce.server.store.postgres.connecting import passing, pool
from sottovoce.server.store.postgres.migrating import prepare
from sottovoce.server.store.postgres.schema import APPEND, NEXT, ORDER, PLACES

ADD = "ON CONFLICT (task, hour, verdict) DO UPDATE SET reports = history.reports + excluded.reports"
NEWEST_LAST = "ORDER BY superseded = 0, learned"
SAVE = f"""
INSERT INTO snapshots (task, {", ".join(Snapshot._fields)}) VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (task, seq) DO UPDATE SET learned = excluded.learned, published = excluded.published,
state = excluded.state, base = snapshots.base OR excluded.base, day = excluded.day
"""
"""A base stays one when the same place is saved again."""
FARTHEST = 2**62
KEPT_NEWS = 1000
"""At least so many pieces of news are kept, and the newest of each task."""
PRUNE = """
DELETE FROM news WHERE id < %s
AND EXISTS (SELECT FROM news AS newer WHERE newer.task = news.task AND newer.id > news.id)
"""
READ = 4096
"""Entries of one task read at once."""
DROPPING = "500ms"
"""How long to wait for those who read a day that is to be dropped."""


@telling_faults(psycopg.Error, passing)
class PostgresStore:
    """A `Store` for any number of web processes and learners."""

    shared = True

    def __init__(self, address: str) -> None:
        self.address, self._pool = address, pool(address)
        self.epoch: int | None = None
        """Of the election that the learner who writes has won."""
        try:
            with self._pool.connection() as connection:
                prepare(connection, address)
        except BaseException:
            self.close()
            raise

    def clone(self) -> "PostgresStore":
        return PostgresStore(self.address)

    def close(self) -> None:
        self._pool.close()

    @contextlib.contextmanager
    def _transaction(self, isolation: psycopg.IsolationLevel | None = None) -> Iterator[Any]:
        """All or nothing: what runs statements, until the context ends."""
        with self._pool.connection() as connection:
            connection.isolation_level = isolation
            try:
                with connection.transaction():
                    yield connection.execute
            finally:
                if isolation and not connection.closed:
                    connection.isolation_level = None

    @contextlib.contextmanager
    def _elected(self, *, durable: bool = False, isolation: psycopg.IsolationLevel | None = None) -> Iterator[Any]:
        """A transaction of the learner. Nobody else is elected before it ends.

        One that is not durable may be lost if the database crashes: what it wrote is computed again from the journal.
        """
        with self._transaction(isolation) as run:
            if not durable:
                run("SET LOCAL synchronous_commit = off")
            mine = "SELECT 1 FROM leader WHERE epoch = %s FOR KEY SHARE"
            if self.epoch is not None and run(mine, (self.epoch,)).fetchone() is None:
                raise Deposed(f"another learner was elected after number {self.epoch}")
            yield run

    def _run(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows that one statement returns."""
        with self._pool.connection() as connection:
            found = connection.execute(statement, values, binary=True)  # pyright: ignore[reportArgumentType]
            return found.fetchall() if found.description else []

    # --- web processes write -----------------------------------------------------------------------------------------

    def secret(self, name: str) -> bytes:
        known = "SELECT value FROM secrets WHERE name = %s"
        if not self._run(known, (name,)):
            self._run("INSERT INTO secrets VALUES (%s, %s) ON CONFLICT DO NOTHING", (name, secrets.token_bytes(32)))
        return self._run(known, (name,))[0][0]

    def create(self, id: str, body: bytes, mode: Mode) -> TaskRow:
        new = "INSERT INTO tasks (id, contract, mode) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
        self._run(new, (id, body, mode))
        (number,) = self._run("SELECT number FROM tasks WHERE id = %s", (id,))[0]
        return self.tasks(number - 1)[0]

    def change(self, number: int, mode: Mode, paused: bool) -> None:
        self._run("UPDATE tasks SET mode = %s, paused = %s WHERE number = %s", (mode, paused, number))

    def predict(self, number: int, prediction: bytes) -> None:
        self._run("UPDATE tasks SET prediction = %s WHERE number = %s", (prediction, number))

    def append(self, reports: Sequence[Journalled], hour: int = 0) -> list[bool]:
        once = {(report.task, report.id): report for report in reversed(reports)}
        ordered = sorted(once.values(), key=operator.attrgetter("id"))  # nobody waits for another in a circle
        columns = [list(column) for column in zip(*ordered, strict=True)] or [[]] * len(Journalled._fields)
        new = dict.fromkeys(self._run(APPEND, (*columns, hour)), True)
        return [new.pop((report.task, report.id), False) for report in reports]

    def tally(self, tallies: Sequence[Tally]) -> None:
        with self._transaction() as run:
            for one in sorted(tallies):
                run(f"INSERT INTO history VALUES (%s, %s, %s, %s) {ADD}", one)

    def thin(self, hourly: int, first: int) -> None:
        single = f"hour < %s AND hour %% {DAY_HOURS} <> 0"
        days = f"SELECT task, hour - hour %% {DAY_HOURS}, verdict, sum(reports) FROM history WHERE {single}"
        with self._transaction() as run:
            run(f"INSERT INTO history {days} GROUP BY 1, 2, 3 {ADD}", (hourly,))
            run(f"DELETE FROM history WHERE {single} OR hour < %s", (hourly, first))
            actions.forget_actions(run, first)

    def record(self, action: Action) -> int:
        return actions.record(self._run, action)

    def amend(self, number: int, status: int, detail: bytes) -> None:
        actions.amend(self._run, number, status, detail)

    def admit(self, task: int, id: bytes, expires: int, now: int) -> bool:
        return actions.admit(self._run, task, id, expires, now)

    def tidy(self) -> None:
        """PostgreSQL does so by itself."""

    def forget(self, task: int, day: int, seq: int, most: int) -> int:
        for old in self._days(day):
            if gone := self._drop(old, task, seq, day):
                return gone
        old = "SELECT seq FROM journal WHERE task = %s AND seq <= %s AND day < %s ORDER BY seq LIMIT %s"
        deleted = f"DELETE FROM journal WHERE task = %s AND seq = ANY(ARRAY({old})) RETURNING 1"
        return len(self._run(deleted, (task, task, seq, day, most)))

    def _days(self, before: int) -> list[int]:
        """The partitions before this day."""
        names = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'journal'::regclass"
        days = sorted(int(name.removeprefix("journal_")) for (name,) in self._run(names))
        return [day for day in days if day < before]

    def _drop(self, partition: int, task: int, seq: int, day: int) -> int:
        """Drop a partition if there is nothing in it but what this task forgets up to this place; how many reports.

        What came from another store has kept its places, so a partition may hold reports of days after its own.
        """
        name, others = _partition(partition), "task < %s OR task > %s OR seq > %s OR day >= %s"
        with contextlib.suppress(LockNotAvailable), self._transaction() as run:
            run("SELECT set_config('lock_timeout', %s, true)", (DROPPING,))
            run("SELECT last FROM places FOR UPDATE")  # nothing comes in meanwhile
            rest = sql.SQL(f"SELECT EXISTS (SELECT FROM {{}} WHERE {others})").format(name)
            if run(rest, (task, task, seq, day)).fetchone()[0]:
                return 0
            (reports,) = run(sql.SQL("SELECT count(*) FROM {}").format(name)).fetchone()
            run(sql.SQL("DROP TABLE {}").format(name))
            return reports
        return 0  # somebody reads it: go on one by one

    def forget_ids(self, task: int, day: int, after: bytes, most: int) -> bytes | None:
        next_ones = "SELECT id FROM ids WHERE task = %s AND id > %s ORDER BY id LIMIT %s"
        found = self._run(next_ones, (task, after, most))
        if not found:
            return None
        last = found[-1][0]
        old = "task = %s AND id > %s AND id <= %s AND day < %s"
        self._run(f"DELETE FROM ids WHERE {old}", (task, after, last, day))
        return last

    def probe(self) -> None:
        self._run("UPDATE secrets SET value = value WHERE name = 'tickets'")

    # --- the learner writes ------------------------------------------------------------------------------------------

    def order(self, most: int) -> int:
        with self._elected(durable=True, isolation=psycopg.IsolationLevel.REPEATABLE_READ) as run:
            (last,) = run("SELECT last FROM places FOR UPDATE").fetchone()
            newest, count = run(NEXT, (most,)).fetchone()
            if count:
                day = max(newest, last // PLACES)
                before = max(last, day * PLACES)
                make_partition(run, day)
                run(ORDER, (most, before))
                run("UPDATE places SET last = %s", (before + count,))
        return count

    def publish(self, task: int, publication: Publication, now: int, closed: int) -> None:
        with self._elected() as run:
            _publish(run, task, publication, now, closed, "learned < %s", (publication.learned,))

    def roll_back(
        self, task: int, gap: Gap, snapshot: Snapshot, publication: Publication, now: int, closed: int
    ) -> None:
        with self._elected(durable=True) as run:
            run("DELETE FROM gaps WHERE task = %s AND after_seq >= %s", (task, gap.after))
            run("INSERT INTO gaps VALUES (%s, %s, %s, %s)", (task, *gap))
            run("DELETE FROM snapshots WHERE task = %s AND seq > %s", (task, gap.after))
            run(SAVE, (task, *snapshot))
            _publish(run, task, publication, now, closed, "true", ())

    def save(self, task: int, snapshot: Snapshot, gone: Sequence[int] = ()) -> None:
        with self._elected(durable=snapshot.base) as run:
            run(SAVE, (task, *snapshot))
            if snapshot.base:
                run("DELETE FROM snapshots WHERE task = %s AND seq < %s", (task, snapshot.seq))
            run("DELETE FROM snapshots WHERE task = %s AND seq = ANY(%s) AND NOT base", (task, list(gone)))

    def leave_out(self, task: int, entries: Sequence[Unread]) -> None:
        with self._elected() as run:
            for entry in entries:
                run("INSERT INTO unread VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", (task, *entry))

    def tell(self, news: Sequence[tuple[int, bytes]], channel: str) -> None:
        """Keep news of tasks for all web processes, and notify them."""
        with self._elected() as run:
            for task, body in news:
                (id,) = run("INSERT INTO news (task, body) VALUES (%s, %s) RETURNING id", (task, body)).fetchone()
                if id % KEPT_NEWS == 0:
                    run(PRUNE, (id - KEPT_NEWS,))
            run("SELECT pg_notify(%s, '')", (channel,))

    # --- both read ---------------------------------------------------------------------------------------------------

    def tasks(self, after: int = 0) -> list[TaskRow]:
        wanted = "SELECT number, contract, mode, paused, prediction FROM tasks WHERE number > %s ORDER BY number"
        return [TaskRow._make(row) for row in self._run(wanted, (after,))]

    def standings(self) -> list[Standing]:
        wanted = """
            SELECT number, mode, paused, coalesce(counts.reports, 0) + coalesce(new.reports, 0),
              coalesce(counts.warm, 0) + coalesce(new.warm, 0)
            FROM tasks LEFT JOIN counts ON counts.task = number LEFT JOIN (
              SELECT task, count(*) FILTER (WHERE gate >= 0) AS reports, count(*) FILTER (WHERE gate < 0) AS warm
              FROM inbox GROUP BY task
            ) AS new ON new.task = number ORDER BY number
        """
        return [Standing._make(row) for row in self._run(wanted)]

    def count(self, task: int) -> tuple[int, int]:
        found = [one for one in self.standings() if one.number == task]
        return (found[0].reports, found[0].warm) if found else (0, 0)

    def history(self, task: int) -> list[Tally]:
        new = "SELECT task, hour, 'accepted', count(*) FROM inbox WHERE gate >= 0 GROUP BY task, hour"
        both = f"SELECT task, hour, verdict, reports FROM history UNION ALL {new}"
        wanted = f"SELECT task, hour, verdict, sum(reports)::bigint FROM ({both}) AS both_ WHERE task = %s"
        return [Tally._make(row) for row in self._run(f"{wanted} GROUP BY 1, 2, 3 ORDER BY hour, verdict", (task,))]

    def actions(self, task: str, before: int, most: int) -> list[Action]:
        return actions.actions(self._run, task, before, most)

    def oldest(self, task: int) -> int | None:
        row = self._run("SELECT day FROM journal WHERE task = %s ORDER BY seq LIMIT 1", (task,))
        return row[0][0] if row else None

    def entries(self, after: int, most: int, task: int | None = None) -> list[Entry]:
        whose, which = ("", (after, most)) if task is None else ("task = %s AND", (task, after, most))
        columns = ", ".join(("seq", *Journalled._fields))
        rows = self._run(f"SELECT {columns} FROM journal WHERE {whose} seq > %s ORDER BY seq LIMIT %s", which)
        return [Entry(row[0], Journalled._make(row[1:])) for row in rows]

    def entries_of(self, task: int, after: int) -> Iterator[Entry]:
        while found := self.entries(after, READ, task):
            yield from found
            after = found[-1].seq

    def last(self, task: int | None = None) -> int:
        if task is None:
            return self._run("SELECT last FROM places")[0][0]
        return self._run("SELECT coalesce(max(seq), 0) FROM journal WHERE task = %s", (task,))[0][0]

    def gaps(self, task: int) -> list[Gap]:
        wanted = "SELECT after_seq, until_seq, reports FROM gaps WHERE task = %s ORDER BY after_seq"
        return [Gap._make(row) for row in self._run(wanted, (task,))]

    def unread(self, task: int) -> int:
        return self._run("SELECT count(*) FROM unread WHERE task = %s", (task,))[0][0]

    def publications(self, task: int, after: int = -1) -> list[Publication]:
        wanted = f"SELECT {', '.join(Publication._fields)} FROM publications WHERE task = %s AND learned > %s"
        return [Publication._make(row) for row in self._run(f"{wanted} {NEWEST_LAST}", (task, after))]

    def snapshot(self, task: int, base: bool = False, most: int | None = None) -> Snapshot | None:
        which, values = ("base", (task,)) if base else ("learned <= %s", (task, FARTHEST if most is None else most))
        wanted = f"SELECT {', '.join(Snapshot._fields)} FROM snapshots WHERE task = %s AND {which}"
        found = self._run(f"{wanted} ORDER BY seq DESC LIMIT 1", values)
        return Snapshot._make(found[0]) if found else None

    def snapshots(self, task: int) -> list[Kept]:
        wanted = f"SELECT {', '.join(Kept._fields)} FROM snapshots WHERE task = %s ORDER BY seq"
        return [Kept._make(row) for row in self._run(wanted, (task,))]


def make_partition(run: Any, day: int) -> None:
    """For the places of this day, if there is none yet."""
    if run("SELECT to_regclass(%s)", (f"journal_{day}",)).fetchone() == (None,):
        made = "CREATE TABLE {} PARTITION OF journal FOR VALUES FROM ({}) TO ({})"
        run(sql.SQL(made).format(_partition(day), day * PLACES, (day + 1) * PLACES))


def _partition(day: int) -> sql.Identifier:
    return sql.Identifier(f"journal_{day}")


def _publish(
    run: Any, task: int, publication: Publication, now: int, closed: int, older: str, than: tuple[int, ...]
) -> None:
    """What is `older` is superseded, or forgotten."""
    before, useless = f"task = %s AND {older}", "memo = '' AND (superseded < %s OR version = '')"
    which, key = (task, *than), "(task, learned, version)"
    run(f"UPDATE publications SET superseded = %s, body = '' WHERE superseded = 0 AND {before}", (now, *which))
    run(f"DELETE FROM publications WHERE {before} AND {useless}", (*which, closed))
    again = "body = excluded.body, memo = excluded.memo, superseded = excluded.superseded"
    new = f"INSERT INTO publications VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT {key} DO UPDATE SET {again}"
    run(new, (task, *publication))
