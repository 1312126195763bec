"""What the routes stand on: the tasks, the journal's writer, and the learner's process."""

import asyncio
import contextlib
import functools
import logging
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec

from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import TaskFile
from sottovoce.protocol.contract import DAY, Contract, Status
from sottovoce.protocol.errors import SottovoceError
from sottovoce.protocol.wire import ModelReports, TicketReports, Verdict, WarmRows
from sottovoce.server.coordination import News, ask_for_base, read_news, wake
from sottovoce.server.logs import log
from sottovoce.server.metrics import Metrics
from sottovoce.server.published import open_seconds
from sottovoce.server.store import Entry, TaskRow
from sottovoce.server.store.journal import Journal
from sottovoce.server.store.sqlite import SqliteStore
from sottovoce.server.web.live import LiveTask
from sottovoce.server.web.problems import Problem

HOUSEKEEPING_SECONDS = 3600.0
POKE_SECONDS = 0.005
TIDY_SECONDS = 1.0
PREPARING_SECONDS = 60.0
"""How long the creator of a task waits for its first offer; the task exists all the same."""


class Hub:
    """One data folder, served by one process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.metrics = Metrics()
        self._counter = functools.cache(self.metrics.reports.labels)
        self._store = SqliteStore(folder)
        self.journal = Journal(self._store, self._committed)
        self._key = self._store.secret("tickets")
        self._store.secret("publication")  # made here, because the learner's process only reads this file
        self.tasks: dict[str, LiveTask] = {}
        for row in self._store.tasks():
            self._add(row)
        self._learner: asyncio.subprocess.Process | None = None
        self._work: list[asyncio.Task] = []
        self._stopping = self._poking = False

    # --- life --------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        work = {"learning": self._keep_learning(), "housekeeping": self._keep_house(), "tidying": self._keep_tidy()}
        self._work = [asyncio.create_task(one, name=name) for name, one in work.items()]
        for one in self._work:
            one.add_done_callback(_lament)

    async def stop(self) -> None:
        """Write what waits, let the learner save its state, and end."""
        self._stopping = True
        self.journal.flush()
        if self._learner and self._learner.stdin and self._learner.returncode is None:
            self._learner.stdin.close()
            try:
                await asyncio.wait_for(self._learner.wait(), 20)
            except TimeoutError:
                self._learner.kill()
        for work in self._work:
            work.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        self._store.close()

    @property
    def ready(self) -> bool:
        alive = self._learner is not None and self._learner.returncode is None
        alive = alive and not any(work.done() for work in self._work)
        return alive and all(task.ready or task.broken for task in self.tasks.values())

    # --- tasks -------------------------------------------------------------------------------------------------------

    def task(self, id: str) -> LiveTask:
        if id not in self.tasks:
            raise Problem("not-found", "there is no such task")
        return self.tasks[id]

    async def create(self, file: TaskFile) -> tuple[LiveTask, bool]:
        """The task, and whether it is new."""
        try:
            contract = contract_of(file)
        except SottovoceError as error:
            raise Problem("bad-task", str(error)) from error
        known = self.tasks.get(contract.id)
        if known is None:
            task = self._add(self._store.create(contract, Status(mode=file.mode)))
            self._poke()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(task.prepared.wait(), PREPARING_SECONDS)
            if task.broken:
                raise Problem("bad-task", f"{contract.id} is kept, but its learner fails; the server's log says where")
            log("task created", task=contract.id, learner=contract.task.learner, epsilon=contract.task.epsilon)
            return task, True
        if known.digest != contract.digest():
            raise Problem(
                "contract-differs",
                f"{contract.id} exists with another contract, which its devices have pinned; choose another id",
            )
        return known, False

    def change(self, task: LiveTask, **changes: bool | str) -> None:
        status = msgspec.structs.replace(task.status, **changes)
        self._store.set_status(task.number, status)
        task.set_status(status)
        log("status changed", task=task.contract.id, mode=status.mode, paused=status.paused)

    async def warm(self, task: LiveTask, rows: WarmRows) -> int:
        reports = task.warm_reports(rows.rows, time.time())
        await self.journal.append(reports)
        task.warm += len(reports)
        task.reports += len(reports)
        self._poke()
        log("task warmed up", task=task.contract.id, rows=len(reports))
        return len(reports)

    # --- reports -----------------------------------------------------------------------------------------------------

    async def hear(self, task: LiveTask, batch: TicketReports | ModelReports) -> list[Verdict]:
        """One verdict per report; those accepted are on disk."""
        now = time.time()
        judged = (
            task.judge_tickets(batch.reports, now)
            if isinstance(batch, TicketReports)
            else task.judge_models(batch.reports, now)
        )
        good = [one for one in judged if not isinstance(one, str)]
        fresh = iter(await self.journal.append(good) if good else [])
        verdicts: list[Verdict] = [
            one if isinstance(one, str) else "accepted" if next(fresh) else "duplicate" for one in judged
        ]
        for verdict in set(verdicts):
            count = verdicts.count(verdict)
            self._counter(task.contract.id, verdict).inc(count)
            task.count(verdict, count)
        self._poke()
        return verdicts

    def entries(self) -> Iterator[list[Entry]]:
        """The whole journal, piece by piece, through a connection of its own."""
        store, after = SqliteStore(self.folder), 0
        try:
            while found := store.entries(after, 1000):
                yield found
                after = found[-1].seq
        finally:
            store.close()

    def page(self) -> bytes:
        """The metrics, brought up to date."""
        self.metrics.waiting.set(self.journal.waiting)
        for id, task in self.tasks.items():
            self.metrics.journalled.labels(id).set(task.reports)
            self.metrics.learned.labels(id).set(task.news.learned if task.news else 0)
            self.metrics.published.labels(id).set(task.news.published if task.news else 0)
        return self.metrics.page()

    def _committed(self, reports: int, seconds: float) -> None:
        self.metrics.commit.observe(seconds)
        self.metrics.group.observe(reports)

    def _add(self, row: TaskRow) -> LiveTask:
        task = LiveTask(row, self._key, *self._store.count(row.number))
        self._take(task)  # after a restart people are served before the learner is up
        self.tasks[row.contract.id] = task
        return task

    def _take(self, task: LiveTask) -> None:
        task.take(self._store.publications(task.number, task.published_after), time.time())

    # --- the learner -------------------------------------------------------------------------------------------------

    def _poke(self) -> None:
        """Tell the learner, soon and once, that there is something new."""
        if not self._poking:
            self._poking = True
            asyncio.get_running_loop().call_later(POKE_SECONDS, self._poke_now)

    def _poke_now(self) -> None:
        self._poking = False
        if self._learner and self._learner.stdin and not self._learner.stdin.is_closing():
            self._learner.stdin.write(wake())

    async def _keep_learning(self) -> None:
        """Start the learner, hear its news, and start it again should it ever end."""
        pause = 0.1
        while not self._stopping:
            command = (sys.executable, "-m", "sottovoce.server.learn.process", str(self.folder))
            pipe = asyncio.subprocess.PIPE
            self._learner = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=2**20)
            assert self._learner.stdout is not None
            async for line in self._learner.stdout:
                self._hear_news(read_news(line))
                pause = 0.1
            await self._learner.wait()
            if not self._stopping:
                log("learner ended; starting it again", logging.ERROR, status=self._learner.returncode)
                self.metrics.restarts.inc()
                await asyncio.sleep(pause)
                pause = min(2 * pause, 10.0)

    def _hear_news(self, news: News) -> None:
        task = next(task for task in self.tasks.values() if task.number == news.task)
        if news.broken:
            task.broken = True
            task.prepared.set()
            return
        if news.fresh or not task.ready:
            self._take(task)
        task.news = news
        if news.base:
            gone = self._store.forget(task.number, oldest_kept(task.contract), news.seq)
            log("reports forgotten", task=task.contract.id, reports=gone)

    async def _keep_tidy(self) -> None:
        """Let the store tidy up, in a thread, while the journal grows."""
        store, written = SqliteStore(self.folder), 0
        try:
            while True:
                await asyncio.sleep(TIDY_SECONDS)
                if self.journal.written > written:
                    written = self.journal.written
                    await asyncio.to_thread(store.checkpoint)
        finally:
            store.close()

    async def _keep_house(self) -> None:
        """Ask for a base wherever single reports are older than their task keeps them."""
        while True:
            while not self.ready:
                await asyncio.sleep(1.0)
            for task in list(self.tasks.values()):
                oldest = self._store.oldest(task.number)
                overdue = oldest is not None and oldest < oldest_kept(task.contract)
                if overdue and self._learner and self._learner.stdin:
                    self._learner.stdin.write(ask_for_base(task.number))
            await asyncio.sleep(HOUSEKEEPING_SECONDS)


def _lament(work: asyncio.Task) -> None:
    """Background work never ends by itself; the log says so if it does, and the server is not ready any more."""
    if not work.cancelled() and (error := work.exception()):
        log("background work ended", logging.CRITICAL, work=work.get_name(), error=type(error).__name__)


def oldest_kept(contract: Contract) -> int:
    """The first day whose reports are kept; a report that may still be sent again is kept, to be told a duplicate."""
    return int(time.time() - max(contract.retention, open_seconds(contract))) // DAY


@contextlib.asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Hub]:
    """A hub for as long as the context lasts."""
    hub = Hub(folder)
    await hub.start()
    try:
        yield hub
    finally:
        await hub.stop()
