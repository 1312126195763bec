"""A `Store` in a PostgreSQL database. Its methods may be called from any thread.

Web processes write tasks and, in groups, reports. The elected learner writes everything else, each time within a
transaction that fails if another one was elected meanwhile. `journal` has what is about reports.
"""

import secrets
from collections.abc import Sequence
from typing import Any

import psycopg

from sottovoce.server.store.base import (
    DAY_HOURS,
    Action,
    Gap,
    Kept,
    Mode,
    Publication,
    Snapshot,
    Tally,
    TaskRow,
    Unread,
)
from sottovoce.server.store.faults import telling_faults
from sottovoce.server.store.postgres import actions
from sottovoce.server.store.postgres.connecting import passing
from sottovoce.server.store.postgres.journal import Journal

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


@telling_faults(psycopg.Error, passing)
class PostgresStore(Journal):
    """A `Store` for any number of web processes and learners."""

    shared = True

    def clone(self) -> "PostgresStore":
        return PostgresStore(self.address)

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

    def probe(self) -> None:
        self._run("UPDATE secrets SET value = value WHERE name = 'tickets'")

    # --- the learner writes ------------------------------------------------------------------------------------------

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

    def actions(self, task: str, before: int, most: int) -> list[Action]:
        return actions.actions(self._run, task, before, most)

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
