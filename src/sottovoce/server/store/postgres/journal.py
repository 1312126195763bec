"""Reports in a PostgreSQL database: how they come in, get their places, are read, counted and forgotten."""

import contextlib
import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
from psycopg import sql
from psycopg.errors import LockNotAvailable

from sottovoce.server.store.base import Entry, Journalled, Standing, Tally, Walked
from sottovoce.server.store.faults import telling_faults
from sottovoce.server.store.postgres.arrays import integers, octets, smallints
from sottovoce.server.store.postgres.connecting import passing
from sottovoce.server.store.postgres.database import Database
from sottovoce.server.store.postgres.schema import APPEND, APPEND_KNOWN, GATHER, NEXT, ORDER, PLACES

WARY = 16
"""After a group with a report that was known, so many are written as if they had one, too: a try that fails is work for
nothing, and those who send again do so at about the same time."""
READ = 4096
"""Entries of one task read at once."""
DROPPING = "500ms"
"""How long to wait for those who read a day that is to be dropped."""


@telling_faults(psycopg.Error, passing)
class Journal(Database):
    """The part of a `Store` that is about reports."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._wary = 0
        """Groups to be written as if some of their reports were known."""

    # --- web processes write -----------------------------------------------------------------------------------------

    def append(self, reports: Sequence[Journalled], hour: int = 0) -> list[bool]:
        once = {(report.task, report.id): report for report in reversed(reports)}
        ordered = sorted(once.values(), key=operator.attrgetter("id"))  # nobody waits for another in a circle
        fresh = self._keep(ordered, hour) if ordered else []
        if fresh is None and len(ordered) == len(reports):
            return [True] * len(reports)
        new = {
            (report.task, report.id): is_new
            for report, is_new in zip(ordered, fresh or itertools.repeat(True), strict=False)
        }
        return [new.pop((report.task, report.id), False) for report in reports]

    def _keep(self, reports: Sequence[Journalled], hour: int) -> list[bool] | None:
        """For each whether it is new; None where all are."""
        statement = APPEND_KNOWN if self._wary else APPEND
        self._wary = max(0, self._wary - 1)
        tasks, ids, days, gates, contexts, payloads = zip(*reports, strict=True)
        columns = integers(tasks), octets(ids), integers(days), smallints(gates), octets(contexts), octets(payloads)
        ((fresh,),) = self._run(statement, (*columns, hour))
        if fresh is not None and not all(fresh):
            self._wary = WARY
        return fresh

    def forget(self, task: int, day: int, after: int, seq: int, most: int) -> Walked | None:
        for old in self._days(day):
            if gone := self._drop(old, task, seq, day):
                return Walked(after, gone)
        next_ones = "SELECT seq FROM journal WHERE task = %s AND seq > %s AND seq <= %s ORDER BY seq LIMIT %s"
        ((last,),) = self._run(f"SELECT max(seq) FROM ({next_ones}) AS next_ones", (task, after, seq, most))
        if last is None:
            return None
        deleted = "DELETE FROM journal WHERE task = %s AND seq > %s AND seq <= %s AND day < %s RETURNING 1"
        return Walked(last, len(self._run(deleted, (task, after, last, day))))

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

    # --- the learner writes ------------------------------------------------------------------------------------------

    def order(self, most: int) -> int:
        with self._elected(durable=True, isolation=psycopg.IsolationLevel.REPEATABLE_READ) as run:
            (last,) = run("SELECT last FROM places FOR UPDATE").fetchone()
            run(GATHER)
            newest, count, until = run(NEXT, (most, most)).fetchone()
            if count:
                day = max(newest, last // PLACES)
                before = max(last, day * PLACES)
                make_partition(run, day)
                run(ORDER, (until, before))
                run("UPDATE places SET last = %s", (before + count,))
        return count or 0

    # --- both read ---------------------------------------------------------------------------------------------------

    def standings(self) -> list[Standing]:
        wanted = """
            SELECT number, mode, paused, coalesce(counts.reports, 0) + coalesce(new.reports, 0),
              coalesce(counts.warm, 0) + coalesce(new.warm, 0)
            FROM tasks LEFT JOIN counts ON counts.task = number LEFT JOIN (
              SELECT task, count(*) FILTER (WHERE gate >= 0) AS reports, count(*) FILTER (WHERE gate < 0) AS warm
              FROM groups, unnest(tasks, gates) AS waiting (task, gate) GROUP BY task
            ) AS new ON new.task = number ORDER BY number
        """
        return [Standing._make(row) for row in self._run(wanted)]

    def count(self, task: int) -> tuple[int, int]:
        found = [one for one in self.standings() if one.number == task]
        return (found[0].reports, found[0].warm) if found else (0, 0)

    def history(self, task: int) -> list[Tally]:
        waiting = "groups, unnest(tasks, gates) AS waiting (task, gate)"
        new = f"SELECT task, hour, 'accepted', count(*) FROM {waiting} WHERE gate >= 0 GROUP BY task, hour"
        both = f"SELECT task, hour, verdict, reports FROM history UNION ALL {new}"
        wanted = f"SELECT task, hour, verdict, sum(reports)::bigint FROM ({both}) AS both_ WHERE task = %s"
        return [Tally._make(row) for row in self._run(f"{wanted} GROUP BY 1, 2, 3 ORDER BY hour, verdict", (task,))]

    def walk(self, task: int, day: int, after: int, most: int) -> Walked | None:
        next_ones = "SELECT seq, day FROM journal WHERE task = %s AND seq > %s ORDER BY seq LIMIT %s"
        wanted = f"SELECT max(seq), count(*) FILTER (WHERE day < %s) FROM ({next_ones}) AS next_ones"
        (found,) = self._run(wanted, (day, task, after, most))
        return None if found[0] is None else Walked(*found)

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


def make_partition(run: Any, day: int) -> None:
    """For the places of this day, if there is none yet."""
    if run("SELECT to_regclass(%s)", (f"journal_{day}",)).fetchone() == (None,):
        made = "CREATE TABLE {} PARTITION OF journal FOR VALUES FROM ({}) TO ({})"
        run(sql.SQL(made).format(_partition(day), day * PLACES, (day + 1) * PLACES))


def _partition(day: int) -> sql.Identifier:
    return sql.Identifier(f"journal_{day}")
