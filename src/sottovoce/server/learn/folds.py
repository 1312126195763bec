"""All tasks of one store, carried forward: what is new in the journal is folded, published and kept."""

import hashlib
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sottovoce.protocol.contract import DAY
from sottovoce.server.coordination.messages import News, Wish
from sottovoce.server.learn.replaying import fold_of, replayed, resume
from sottovoce.server.learn.series import superfluous
from sottovoce.server.logs import log
from sottovoce.server.store.base import (
    Deposed,
    Entry,
    Gap,
    Kept,
    Publication,
    Snapshot,
    Store,
    StoreFault,
    TaskRow,
    open_seconds,
)
from sottovoce.server.tracing import OFF, Tracing

if TYPE_CHECKING:
    from sottovoce.server.learn.folding import Fold

LEAST, MOST, WORK_SECONDS = 64, 4096, 0.01
"""Entries of the journal read at once: as many as are some milliseconds of work, after which news is told."""
PAUSE_SECONDS = 0.0001
"""How long it sleeps after LEAST entries, a part of a millisecond of work. Whoever was woken meanwhile has the
core then. Else Linux may let him wait for its next tick, up to four milliseconds, even where another core is idle."""
AT_ONCE = 16
"""Tasks that begin, or read entries of their own, before news is told and memory is looked at."""
SNAPSHOT_SECONDS = 2.0
"""A snapshot is a write to disk; without one a restart folds the last seconds again."""
PASSING = (StoreFault, OSError, MemoryError)
"""Errors that are not of a task's own data: what failed is tried again."""


class Folds:
    """A task that nobody reports to is left in the store."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time, tracing: Tracing = OFF) -> None:
        self._store, self._clock, self._tracing = store, clock, tracing
        self._tasks: dict[int, TaskRow] = {}
        self._folds: dict[int, Fold] = {}
        self._broken: set[int] = set()
        self._late: dict[int, None] = {}
        """Tasks with entries before the cursor, in turn: each reads its own until there are no more."""
        self._cursor: int | None = None
        self._most = LEAST
        self._saved: dict[int, float] = {}
        self._unread: dict[int, int] = {}
        self._left_out: dict[int, int] = {}
        self.behind = False
        """Is there probably more to read?"""

    def catch_up(self) -> list[News]:
        """Read what is new, for about WORK_SECONDS; nothing new gives no news."""
        start, new = time.monotonic(), self._store.tasks(max(self._tasks, default=0))
        news = [self._guarded(row.number, self._begin, row) for row in new[:AT_ONCE]]
        if self._cursor is None:
            self._cursor = self._store.last()
        unplaced = self._store.order(self._most)
        entries = self._store.entries(self._cursor, self._most)
        for number in dict.fromkeys(entry.report.task for entry in entries):
            if number in self._tasks and number not in self._broken | self._late.keys():
                own = [entry for entry in entries if entry.report.task == number]
                news.append(self._guarded(number, self._advance, number, own))
        self._cursor = entries[-1].seq if entries else self._cursor
        turn = list(self._late)[:AT_ONCE]
        share = max(self._most // max(len(turn), 1), LEAST)
        news += [self._guarded(number, self._read_own, number, share) for number in turn]
        self.behind = self._most in (unplaced, len(entries)) or bool(self._late) or len(new) > AT_ONCE
        if self.behind:
            quick = time.monotonic() - start < WORK_SECONDS
            self._most = min(2 * self._most, MOST) if quick else max(self._most // 2, LEAST)
        return news

    def _begin(self, row: TaskRow) -> News:
        self._tasks[row.number] = row
        kept, self._unread[row.number] = self._store.snapshot(row.number), self._store.unread(row.number)
        self._left_out[row.number] = sum(gap.reports for gap in self._store.gaps(row.number))
        if kept is None:
            self._publish(row.number, self._fold(row.number).publish())
            self._keep(row.number, now=True)
        if self._store.last(row.number) > (kept.seq if kept else 0):
            self._late[row.number] = None
        return self._news(row.number)

    def _fold(self, number: int) -> "Fold":
        if number not in self._folds:
            self._folds[number] = fold_of(self._store, self._tasks[number])
        return self._folds[number]

    def _read_own(self, number: int, most: int) -> News:
        own = self._store.entries(self._fold(number).seq, most, number)
        del self._late[number]
        if len(own) == most:
            self._late[number] = None  # after the others
        return self._advance(number, own)

    def _advance(self, number: int, entries: list[Entry]) -> News:
        fold = self._fold(number)
        before = fold.alarm.raised
        with self._tracing.fold(number, len(entries)):
            for at in range(0, len(entries), LEAST):
                for publication in fold.advance(entries[at : at + LEAST]):
                    self._publish(number, publication)
                time.sleep(PAUSE_SECONDS)
        if fold.alarm.raised and not before:
            log("the newest reports cannot come from honest people alone", logging.WARNING, task=number)
        if fold.unread:
            self._store.leave_out(number, fold.unread)
            log("entries of the journal cannot be read", logging.ERROR, task=number, errors=[*map(list, fold.unread)])
            fold.unread.clear()
            self._unread[number] = self._store.unread(number)
        self._keep(number)
        return self._news(number)

    def _guarded(self, number: int, work: Callable[..., News], *arguments: Any) -> News:
        """A task whose learner fails is set aside; the others go on."""
        try:
            return work(*arguments)
        except (*PASSING, Deposed):
            raise
        except Exception:
            log("a task's learner failed; it is set aside", logging.ERROR, failure=True, task=number)
            self._broken.add(number)
            self._late.pop(number, None)
            self._folds.pop(number, None)
            return News(task=number, broken=True)

    def grant(self, wanted: list[Wish]) -> list[News]:
        """Roll back first: a base is what nothing is rolled back beyond."""
        back = [
            self._guarded(task, self._roll_back, task, learned)
            for task, learned in wanted
            if learned is not None and task in self._tasks and task not in self._broken
        ]
        return back + self.bases([task for task, learned in wanted if learned is None])

    def _roll_back(self, number: int, learned: int) -> News:
        """To the state after so many reports; what came after them until now is learned from no more."""
        while own := self._store.entries(self._fold(number).seq, MOST, number):  # also what came and was not read yet
            self._advance(number, own)
        before, again = self._fold(number), replayed(self._store, self._tasks[number], learned)
        again.unread.clear()  # known already
        if again.learned == learned < before.learned:
            covered = sum(gap.reports for gap in self._store.gaps(number) if gap.after >= again.seq)
            gap = Gap(again.seq, before.seq, covered + before.learned - learned)
            publication, now = resume(again, gap.until), int(self._clock())
            closed = now - open_seconds(again.contract)
            self._store.roll_back(number, gap, self._snapshot(again), publication, now, closed)
            self._folds[number] = again
            self._left_out[number] = sum(gap.reports for gap in self._store.gaps(number))
        return self._news(number, answers=True)

    def bases(self, wanted: list[int]) -> list[News]:
        """Keep snapshots of these tasks from which replay may start: what comes before them may be forgotten."""
        news = []
        for number in wanted:
            if number in self._folds:
                self._keep(
                    number, now=True
                )  # first: what is forgotten must be in the snapshot that learning resumes from
            if kept := self._store.snapshot(number):
                self._store.save(number, kept._replace(base=True))
                news.append(self._news(number, base=True))
        return news

    def finish(self) -> None:
        for number in self._folds:
            self._keep(number, now=True)

    def _publish(self, number: int, publication: Publication) -> None:
        now = int(self._clock())
        with self._tracing.publish(number, publication.learned):
            self._store.publish(number, publication, now, now - open_seconds(self._folds[number].contract))

    def _keep(self, number: int, *, now: bool = False) -> None:
        if now or time.monotonic() - self._saved.get(number, 0.0) > SNAPSHOT_SECONDS:
            snapshot = self._snapshot(self._folds[number])
            earlier = [one for one in self._store.snapshots(number) if one.seq < snapshot.seq]
            gone = superfluous([*earlier, Kept(snapshot.learned, snapshot.seq, snapshot.base, snapshot.day)])
            self._store.save(number, snapshot, gone)
            self._saved[number] = time.monotonic()

    def _snapshot(self, fold: "Fold") -> Snapshot:
        return fold.snapshot()._replace(day=int(self._clock()) // DAY)

    def _news(self, number: int, *, base: bool = False, answers: bool = False) -> News:
        """How far a task is; one that is left in the store is as far as it was kept."""
        fold = self._folds.get(number)
        kept = fold.snapshot() if fold else self._store.snapshot(number)
        assert kept is not None
        state = hashlib.sha256(kept.state).hexdigest()
        unread = self._unread[number]
        return News(
            task=number,
            learned=kept.learned,
            published=kept.published,
            state=state,
            seq=kept.seq,
            unread=unread,
            suspicious=fold is not None and fold.alarm.raised,
            left_out=self._left_out[number],
            answers=answers,
            base=base,
        )
