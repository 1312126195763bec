"""The middle of the web process: its tasks, between the routes, the store and the learner."""

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import TaskFile
from sottovoce.protocol.contract import DAY, Contract, digest_of
from sottovoce.protocol.errors import SottovoceError
from sottovoce.protocol.wire import ModelReports, TicketReports, Verdict, WarmRows
from sottovoce.server.coordination import ChildLearner, News
from sottovoce.server.logs import log
from sottovoce.server.metrics import Metrics
from sottovoce.server.problems import Problem
from sottovoce.server.store.base import Entry, Store, TaskRow, permit_seconds
from sottovoce.server.store.thread import StoreThread
from sottovoce.server.web.gain import gain_of, watched
from sottovoce.server.web.task import LiveTask
from sottovoce.server.web.tokens import TokenDesk

RETENTION_SECONDS = 3600.0
"""How often the server looks for reports that are older than their task keeps them; retention is counted in days."""
TIDY_SECONDS = 0.25
"""How often the store tidies up; its write-ahead log stays some megabytes long."""
FORGOTTEN_AT_ONCE, IDS_AT_ONCE, FORGETTING_RESTS = 250, 250, 9
"""Reports deleted and ids looked at in one transaction: some milliseconds, for which those who report wait. The next
one comes after a rest of so many times as long."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
"""Seconds before background work that failed is tried again; twice as long each time."""
PREPARING_SECONDS = 60.0
"""How long the creator of a task waits for its first offer; the task exists all the same."""

Found = TypeVar("Found")


class Hub:
    """One store, served by one process for as long as the context lasts."""

    def __init__(self, store: Store, learner: ChildLearner, clock: Callable[[], float] = time.time) -> None:
        self.metrics = Metrics()
        self._count = functools.cache(self.metrics.reports.labels)
        self._learner, self.clock = learner, clock
        self._store, self._thread = store, StoreThread(store, self._committed)
        self._key, self._admission_key, self._started = store.secret("tickets"), store.secret("admission"), clock()
        self.tasks: dict[str, LiveTask] = {}
        for row in store.tasks():
            task = self._add(row, store.count(row.number))
            task.take(store.publications(row.number), clock())  # people are served before the learner is up
        self._changing = asyncio.Lock()
        """Held while a task changes in the store and here: nobody sees one without the other."""
        self._work: list[asyncio.Task] = []
        self._failing: set[str] = set()
        """Background work that failed and is tried again."""
        self._learner_waits = False
        self._bases: asyncio.Queue[News] = asyncio.Queue()
        """Up to where reports may be forgotten."""

    # --- start and end -----------------------------------------------------------------------------------------------

    async def __aenter__(self) -> "Hub":
        work: dict[str, Coroutine[Any, Any, None]] = {
            "learning": self._learner.run(self._told, self.metrics.restarts.inc),
            "retention": self._keep_retention(),
            "forgetting": self._keep_forgetting(),
            "tidying": self._keep_tidy(),
        }
        self._work = [asyncio.create_task(one, name=name) for name, one in work.items()]
        for one in self._work:
            one.add_done_callback(_log_end)
        return self

    async def __aexit__(self, *error: object) -> None:
        """Let the learner save its state, write what waits, and end."""
        await self._learner.stop()
        for work in self._work:
            work.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        await self._thread.close()

    @property
    def trouble(self) -> str:
        """Why reports cannot be taken and learned now; empty when they can."""
        if self._thread.faulty or self._learner_waits:
            return "the disk cannot be written to"
        if self._failing or any(work.done() for work in self._work):
            return "background work fails; the server's log says where"
        if not (self._learner.running and all(task.ready or task.broken for task in self.tasks.values())):
            return "the learner is still starting"
        return ""

    # --- tasks -------------------------------------------------------------------------------------------------------

    def task(self, id: str) -> LiveTask:
        if id not in self.tasks:
            raise Problem("not-found", "there is no such task")
        return self.tasks[id]

    async def create(self, file: TaskFile) -> tuple[LiveTask, bool]:
        """The task, and whether it is new."""
        try:
            body = await asyncio.to_thread(contract_of, file)
        except SottovoceError as error:
            raise Problem("bad-task", str(error)) from error
        async with self._changing:
            if known := self.tasks.get(file.id):
                if known.digest == digest_of(body):
                    return known, False
                detail = f"devices have joined another contract of {file.id}; choose another id"
                raise Problem("contract-differs", detail)
            task = self._add(await self._thread.run(self._store.create, file.id, body, file.mode))
        self._learner.wake()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(task.prepared.wait(), PREPARING_SECONDS)
        if task.broken:
            raise Problem("bad-task", f"{file.id} is kept, but its learner fails; the server's log says where")
        log("task created", task=file.id, learner=file.learner, epsilon=file.privacy.epsilon)
        return task, True

    async def change(self, task: LiveTask, **changes: Any) -> None:
        """Pause, resume or promote a task."""
        async with self._changing:
            row = task.row._replace(**changes)
            await self._thread.run(self._store.change, row.number, row.mode, row.paused)
            task.row = row
        log("status changed", task=task.contract.id, mode=row.mode, paused=row.paused)

    # --- reports -----------------------------------------------------------------------------------------------------

    async def take(self, task: LiveTask, batch: TicketReports | ModelReports) -> list[Verdict]:
        """One verdict per report; those accepted are on disk."""
        judged = task.judge(batch.reports, self.clock())
        good = [one for one in judged if not isinstance(one, str)]
        fresh = iter(await self._thread.append(good) if good else [])
        verdicts: list[Verdict] = [
            one if isinstance(one, str) else "accepted" if next(fresh) else "duplicate" for one in judged
        ]
        for verdict in set(verdicts):
            count = verdicts.count(verdict)
            self._count(task.contract.id, verdict).inc(count)
            task.count(verdict, count)
        self._learner.wake()
        return verdicts

    async def warm(self, task: LiveTask, rows: WarmRows) -> int:
        """Keep rows of consented data; how many."""
        reports = task.warm_reports(rows.rows, self.clock())
        await self._thread.append(reports)
        task.warm += len(reports)
        self._learner.wake()
        log("task warmed up", task=task.contract.id, rows=len(reports))
        return len(reports)

    def entries(self, task: LiveTask) -> Iterator[Entry]:
        """Its journal, read beside everything else."""
        with contextlib.closing(self._store.clone()) as store:
            yield from store.entries_of(task.row.number, 0)

    def metrics_page(self) -> bytes:
        self.metrics.waiting.set(self._thread.waiting)
        self.metrics.faulty.set(self._thread.faulty or self._learner_waits)
        for id, task in self.tasks.items():
            self.metrics.journalled.labels(id).set(task.reports + task.warm)
            self.metrics.learned.labels(id).set(task.news.learned)
            self.metrics.published.labels(id).set(task.news.published)
            self.metrics.changes.labels(id).set(task.published.changes if task.ready else 0)
            for of, value in watched(gain_of(task.contract, task.published) if task.ready else None):
                self.metrics.gain.labels(id, of).set(value)
            self.metrics.unread.labels(id).set(task.news.unread)
            self.metrics.suspicious.labels(id).set(task.news.suspicious)
            self.metrics.discarding.labels(id).set(task.balance.discarding)
            self.metrics.set_aside.labels(id).set(task.broken)
        return self.metrics.page()

    def _committed(self, reports: int, seconds: float) -> None:
        self.metrics.commit.observe(seconds)
        self.metrics.group.observe(reports)

    def _add(self, row: TaskRow, counts: tuple[int, int] = (0, 0)) -> LiveTask:
        signed = row.contract.extensions.get("admission") == "signed"
        tokens = TokenDesk(self._admission_key, row.contract.id, self._started) if signed else None
        task = LiveTask(row, self._key, counts, tokens)
        self.tasks[task.contract.id] = task
        return task

    # --- background work ---------------------------------------------------------------------------------------------

    async def _told(self, news: News) -> None:
        """Serve what the learner has published; let what it has kept a base of be forgotten."""
        self._learner_waits = news.faulty
        if news.task:
            await self._insist("news", self._heed, news)

    async def _heed(self, news: News) -> None:
        async with self._changing:  # the learner may have found a task that is just being created
            task = next((task for task in self.tasks.values() if task.row.number == news.task), None)
            if task is None:  # whoever created it went away before it was here
                task = self._add((await self._thread.run(self._store.tasks, news.task - 1))[0])
        task.broken = news.broken
        if news.broken:
            task.prepared.set()
            return
        if news.published > task.published_after:
            task.take(await self._thread.run(self._store.publications, news.task, task.published_after), self.clock())
        task.news = news
        if news.base:
            self._bases.put_nowait(news)

    async def _insist(self, name: str, work: Callable[..., Awaitable[Any]], *arguments: Any) -> None:
        """Do this work; should it fail, try again with longer and longer pauses. Meanwhile the server is not ready."""
        pause = FIRST_PAUSE
        while True:
            try:
                await work(*arguments)
                self._failing.discard(name)
                return
            except Exception:
                if name not in self._failing:
                    log("background work failed; it is tried again", logging.ERROR, failure=True, work=name)
                self._failing.add(name)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _keep_tidy(self) -> None:
        """Let the store tidy up, in another thread and through another connection."""
        with contextlib.closing(self._store.clone()) as store:
            while True:
                await asyncio.sleep(TIDY_SECONDS)
                if self._thread.faulty:
                    with contextlib.suppress(Problem):
                        await self._thread.probe()
                else:
                    await self._insist("tidying", asyncio.to_thread, store.tidy)

    async def _keep_retention(self) -> None:
        """Look for reports that are older than their task keeps them."""
        while True:
            while self.trouble:
                await asyncio.sleep(1.0)
            for task in list(self.tasks.values()):
                await self._insist("retention", self._ask_for_base, task)
            await asyncio.sleep(RETENTION_SECONDS)

    async def _ask_for_base(self, task: LiveTask) -> None:
        """Where single reports are older than their task keeps them, what was learned from them is kept first."""
        oldest = await self._thread.run(self._store.oldest, task.row.number)
        if oldest is not None and oldest < oldest_kept(task.contract, self.clock()):
            self._learner.ask_for_base(task.row.number)

    async def _keep_forgetting(self) -> None:
        while True:
            await self._insist("forgetting", self._forget, await self._bases.get())

    async def _forget(self, base: News) -> None:
        """A few reports at a time: those who report in between do not wait for all of them."""
        task = next(task for task in self.tasks.values() if task.row.number == base.task)
        first, gone = oldest_kept(task.contract, self.clock()), 0
        while some := await self._unhurried(self._store.forget, base.task, first, base.seq, FORGOTTEN_AT_ONCE):
            gone += some
        log("reports forgotten", task=task.contract.id, reports=gone)
        last: bytes | None = b""
        while last is not None:
            last = await self._unhurried(self._store.forget_ids, base.task, first, last, IDS_AT_ONCE)

    async def _unhurried(self, work: Callable[..., Found], *arguments: Any) -> Found:
        """What the store finds; and then it is left to others for some times as long as that took."""
        start = time.monotonic()
        found = await self._thread.run(work, *arguments)
        await asyncio.sleep(FORGETTING_RESTS * (time.monotonic() - start))
        return found


def oldest_kept(contract: Contract, now: float) -> int:
    """The first day whose reports are kept; a report that may still be sent again is kept, to be told a duplicate."""
    return int(now - max(contract.retention, permit_seconds(contract))) // DAY


def _log_end(work: asyncio.Task) -> None:
    """Background work never ends by itself; if it does, the log says so and the server is not ready any more."""
    if not work.cancelled() and (error := work.exception()):
        log("background work ended", logging.CRITICAL, work=work.get_name(), error=type(error).__name__)
