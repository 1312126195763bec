"""The process beside the server that learns: it reads the journal, folds, and publishes. `python -m ... FOLDER`.

`coordination` says how the two talk. When the web process is gone, by intention or not, the learner ends too. It never
blocks serving: the two share nothing but files, and everything it writes can be computed again from the journal.
"""

import logging
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.server.coordination import News, listen, only_one, tell
from sottovoce.server.logs import log, to_stderr
from sottovoce.server.store import open_store
from sottovoce.server.store.base import Entry, Publication, Store, TaskRow, open_seconds

if TYPE_CHECKING:
    from sottovoce.server.learn.folding import Fold

READ = 2048
"""Entries of the journal read at once: some tens of milliseconds of work, after which news is told and others wait."""
SNAPSHOT_SECONDS = 2.0
"""A snapshot is a write to disk; without one a restart folds the last seconds again."""
IDLE_SECONDS = 60.0
"""How long it waits to be woken before it looks by itself."""
RESTS, REST_SECONDS = 5, 0.1
"""After some work it rests so many times as long, within a limit: reports gather, and serving has the cores. While
there is more to read it rests as long as it worked."""


class Folds:
    """All tasks of one store, carried forward."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._folds: dict[int, Fold] = {}
        self._broken: set[int] = set()
        self._cursor: int | None = None
        self._saved: dict[int, float] = {}
        self.behind = False
        """Is there probably more to read?"""

    def catch_up(self) -> list[News]:
        """Read what is new, at most READ entries; nothing new gives no news."""
        newest = max(self._folds.keys() | self._broken, default=0)
        news = [self._guarded(row.number, self._begin, row) for row in self._store.tasks(newest)]
        if self._cursor is None:
            self._cursor = min((fold.seq for fold in self._folds.values()), default=0)
        entries = self._store.entries(self._cursor, READ)
        self.behind = len(entries) == READ
        if not entries:
            return news
        self._cursor = entries[-1].seq
        for number in dict.fromkeys(entry.report.task for entry in entries):
            if number not in self._broken:
                own = [entry for entry in entries if entry.report.task == number]
                news.append(self._guarded(number, self._advance, number, own))
        return news

    def _advance(self, number: int, entries: list[Entry]) -> News:
        fresh = False
        for publication in self._folds[number].advance(entries):
            self._publish(number, publication)
            fresh = True
        self._keep(number)
        return self._news(number, fresh=fresh)

    def _guarded(self, number: int, work: Callable[..., News], *arguments: Any) -> News:
        """A task whose learner fails is set aside; the others go on."""
        try:
            return work(*arguments)
        except Exception:
            log("a task's learner failed; it is set aside", logging.ERROR, failure=True, task=number)
            self._broken.add(number)
            self._folds.pop(number, None)
            return News(task=number, broken=True)

    def bases(self, wanted: list[int]) -> list[News]:
        """Keep snapshots of these tasks from which replay may start: what comes before them may be forgotten."""
        known = [number for number in wanted if number in self._folds]
        for number in known:
            self._keep(number, now=True)  # first: what is forgotten must be in the snapshot that learning resumes from
            self._store.save(number, self._folds[number].snapshot(base=True))
        return [self._news(number, base=True) for number in known]

    def finish(self) -> None:
        for number in self._folds:
            self._keep(number, now=True)

    def _begin(self, row: TaskRow) -> News:
        fold = self._folds[row.number] = fold_of(self._store, row)
        if self._store.snapshot(row.number) is None:
            self._publish(row.number, fold.publish())
            self._keep(row.number, now=True)
        return self._news(row.number, fresh=True)

    def _publish(self, number: int, publication: Publication) -> None:
        now = int(self._clock())
        self._store.publish(number, publication, now, now - open_seconds(self._folds[number].contract))

    def _keep(self, number: int, *, now: bool = False) -> None:
        if now or time.monotonic() - self._saved.get(number, 0.0) > SNAPSHOT_SECONDS:
            self._store.save(number, self._folds[number].snapshot())
            self._saved[number] = time.monotonic()

    def _news(self, number: int, **flags: bool) -> News:
        fold = self._folds[number]
        return News(
            task=number, learned=fold.learned, published=fold.published, state=fold.digest(), seq=fold.seq, **flags
        )


def fold_of(store: Store, task: TaskRow, *, base: bool = False) -> "Fold":
    """A task as it was kept last, or (`base`) where replay starts."""
    from sottovoce.server.learn.folding import Fold

    memos = {publication.version: publication.memo for publication in store.publications(task.number)}
    return Fold(task.contract, store.secret("publication"), store.snapshot(task.number, base), memos)


def replay(store: Store, task: TaskRow) -> str:
    """The hash of the state that the journal gives, from the first report kept on."""
    import jax

    with jax.enable_x64(True):
        fold = fold_of(store, task, base=True)
        for _ in fold.advance(list(store.entries_of(task.number, fold.seq))):
            pass
        return fold.digest()


def main(folder: Path) -> None:
    to_stderr()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts both; the server says when it is time
    with only_one("learner", folder, wait=True):  # an older one may not have noticed yet that its server is gone
        if (wanted := listen(0.0)) is not None:  # this one's may be gone as well by now
            learn(folder, wanted)


def learn(folder: Path, wanted: list[int] | None) -> None:
    """Until the server is gone."""
    import jax

    with jax.enable_x64(True):
        learning = Folds(open_store(folder))
        while wanted is not None:
            start = time.monotonic()
            news = learning.catch_up() + learning.bases(wanted)
            if not tell(news):
                break
            if news:
                worked = time.monotonic() - start
                time.sleep(min(worked if learning.behind else RESTS * worked, REST_SECONDS))
            wanted = listen(0.0 if news else IDLE_SECONDS)
        learning.finish()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
