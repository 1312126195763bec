"""The process beside the server that learns: it reads the journal, folds, and publishes. `python -m ... FOLDER`.

`coordination` says how the two talk. When the web process is gone, by intention or not, the learner ends too. It never
blocks serving: the two share nothing but files, and everything it writes can be computed again from the journal.
"""

import contextlib
import logging
import os
import signal
import sys
import time
from pathlib import Path

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.coordination import web_side_of
from sottovoce.server.coordination.messages import News, WebSide, Wish
from sottovoce.server.coordination.pipes import ADDRESS, WebProcess, only_one
from sottovoce.server.learn.folds import LEAST, PASSING, Folds
from sottovoce.server.learn.replaying import base_of
from sottovoce.server.logs import log, to_stderr
from sottovoce.server.store import is_shared, open_store
from sottovoce.server.store.base import Deposed, Store, TaskRow
from sottovoce.server.tracing import VARIABLE, Tracing, tracing_of

IDLE_SECONDS = 60.0
"""How long it waits to be woken before it looks by itself."""
RESTS, REST_SECONDS = 10, 0.25
"""After some work it rests so many times as long, within a limit: reports gather, and serving has the cores."""
NICE = 10
"""How much the system prefers others to it, where there are fewer cores than work."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
"""Seconds before it tries again; twice as long each time."""


def main(folder: Path) -> None:
    """Learn whenever it is this process's turn, until its web process is gone."""
    to_stderr()
    os.nice(NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts both; the server says when it is time
    address, own = os.environ.get(ADDRESS) or str(folder), WebProcess(sys.stdin.fileno(), sys.stdout.fileno())
    with contextlib.ExitStack() as end:
        if not is_shared(address):  # an older one may not have noticed yet that its server is gone
            end.enter_context(only_one("learner", folder, wait=True))
        store = end.enter_context(contextlib.closing(open_store(address, make=False)))
        web = web_side_of(store, own)
        rehearsal = Rehearsal(store, folder)
        tracing = end.enter_context(contextlib.closing(tracing_of(os.environ.get(VARIABLE))))
        while (wanted := web.stand_by(rehearsal)) is not None:
            learn(store, folder, web, wanted, tracing)
            web.retire()


class Rehearsal:
    """Lets a learner that waits to be elected compile what it will need, one task at a time."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store, self._folder = store, folder
        self._seen = 0
        self._waiting: list[TaskRow] = []
        """Tasks without a report so far."""

    def __call__(self) -> None:
        with contextlib.suppress(*PASSING):
            new = self._store.tasks(self._seen)
            self._seen = max([self._seen, *(row.number for row in new)])
            self._waiting += new
            row = next((row for row in self._waiting if self._store.last(row.number)), None)
            if row is not None:
                self._waiting.remove(row)
                self._rehearse(row)

    def _rehearse(self, row: TaskRow) -> None:
        """Learn from a few reports, and keep nothing of it."""
        import jax

        from sottovoce.server.learn import compiled

        compiled.stay_on_cpu()
        compiled.keep_in(self._folder / "compiled")
        with jax.enable_x64(True), contextlib.suppress(Exception):  # what fails here is told when it matters
            fold = base_of(self._store, row)
            for _ in fold.advance(self._store.entries(fold.seq, LEAST, row.number)):
                pass
            fold.publish()


def learn(store: Store, folder: Path, web: WebSide, wanted: list[Wish] | None, tracing: Tracing) -> None:
    """Until the web process is gone, or another learner was elected."""
    import jax

    from sottovoce.server.learn import compiled

    compiled.stay_on_cpu()
    compiled.keep_in(folder / "compiled")
    with jax.enable_x64(True), contextlib.suppress(Deposed):
        learning, faults, room = Folds(store, tracing=tracing), 0, compiled.Room()
        while wanted is not None:
            start = time.monotonic()
            try:
                news = learning.catch_up() + learning.grant(wanted)
                wanted, faults = [], 0
            except PASSING:
                if not faults:
                    log("the learner waits for a fault to be over", logging.ERROR, failure=True)
                faults += 1
                learning, news = Folds(store, tracing=tracing), [News(task=0, faulty=True)]  # again, from what was kept
            if not web.tell(news):
                break
            if faults:
                time.sleep(min(FIRST_PAUSE * 2**faults, LONGEST_PAUSE))
            elif news and not learning.behind:
                time.sleep(min(RESTS * (time.monotonic() - start), REST_SECONDS))
            room.make()
            heard = web.listen(0.0 if news else IDLE_SECONDS)
            wanted = None if heard is None else wanted + heard
        with contextlib.suppress(*PASSING):  # what is not kept is folded again
            learning.finish()


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except ConfigurationError as error:  # its files may have been moved away
        log("cannot learn", logging.ERROR, error=str(error))
        sys.exit(1)
