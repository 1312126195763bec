"""The middle of the web process: its tasks, between the routes, the store and the learner."""

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import TaskFile
from sottovoce.protocol.contract import digest_of
from sottovoce.protocol.errors import SottovoceError
from sottovoce.protocol.team import Prediction, SnapshotList, WarmRows
from sottovoce.protocol.wire import ModelReport, TicketReport, Verdict, Verdicts
from sottovoce.server.coordination.messages import News, Wish
from sottovoce.server.coordination.pipes import ChildLearner
from sottovoce.server.logs import log
from sottovoce.server.metrics import Metrics
from sottovoce.server.problems import Problem, not_ready
from sottovoce.server.store.base import Entry, Journalled, Store, Tally, TaskRow
from sottovoce.server.store.thread import StoreThread
from sottovoce.server.tracing import OFF, Tracing
from sottovoce.server.web.actions import Actions
from sottovoce.server.web.background import Background
from sottovoce.server.web.history import History
from sottovoce.server.web.retention import RETENTION_SECONDS, Retention
from sottovoce.server.web.snapshots import check_count, listed
from sottovoce.server.web.task import LiveTask
from sottovoce.server.web.tokens import TokenDesk
from sottovoce.server.web.watching import tell_tasks

TIDY_SECONDS = 0.25
"""How often the store tidies up; its write-ahead log stays some megabytes long."""
REFRESH_SECONDS = 1.0
"""How often to look what other processes have changed."""
PREPARING_SECONDS = 60.0
"""How long the creator of a task waits for its first offer; the task exists all the same."""


class Hub:
    """One store, served by one process for as long as the context lasts."""

    def __init__(
        self, store: Store, learner: ChildLearner, clock: Callable[[], float] = time.time, tracing: Tracing = OFF
    ) -> None:
        self.metrics, self.tracing = Metrics(), tracing
        self._count = functools.cache(self.metrics.reports.labels)
        self._learner, self.clock = learner, clock
        self._store, self._thread = store, StoreThread(store, self._committed, clock)
        self._history, self.actions = History(self._thread, clock), Actions(self._thread, clock)
        self._retention = Retention(self._thread, learner, clock)
        self._key, self._admission_key = store.secret("tickets"), store.secret("admission")
        self.tasks: dict[str, LiveTask] = {}
        for row in store.tasks():
            task = self._add(row, store.count(row.number))
            task.take(store.publications(row.number), clock())  # people are served before the learner is up
        self._changing = asyncio.Lock()
        """Held while a task changes in the store and here: nobody sees one without the other."""
        self._background = Background()
        self._learner_waits, self._heard = False, clock()
        """Does the learner wait for a fault to be over, and when did it last say something?"""
        self.metrics.watch_learner(lambda: learner.pid)
        self._bases: asyncio.Queue[News] = asyncio.Queue()
        """Up to where reports may be forgotten."""

    # --- start and end -----------------------------------------------------------------------------------------------

    async def __aenter__(self) -> "Hub":
        work: dict[str, Coroutine[Any, Any, None]] = {
            "learning": self._learner.run(self._told, self.metrics.restarts.inc),
            "retention": self._keep_retention(),
            "forgetting": self._keep_forgetting(),
            "tidying": self._keep_tidy(),
            "history": self._history.keep(self._background.insist),
            "actions": self.actions.keep(self._background.insist),
        }
        if self._store.shared:
            work["refreshing"] = self._keep_refreshing()
        self._background.start(work)
        return self

    async def __aexit__(self, *error: object) -> None:
        """Let the learner save its state, write what waits, and end."""
        await self._learner.stop()
        await self._background.stop()
        with contextlib.suppress(Problem):  # a disk that is full loses counts of refusals, and no report
            await self._history.write()
            await self.actions.write()
        await self._thread.close()

    @property
    def trouble(self) -> str:
        """Why reports cannot be taken and learned now; empty when they can."""
        if self._thread.faulty or self._learner_waits:
            return "the store cannot be written to"
        if self._background.fails:
            return "background work fails; the server's log says where"
        if not (self._learner.running and all(task.ready or task.broken for task in self.tasks.values())):
            return "the learner is still starting"
        return ""

    # --- tasks -------------------------------------------------------------------------------------------------------

    def task(self, id: str) -> LiveTask:
        if id not in self.tasks:
            raise Problem("not-found", "there is no such task")
        return self.tasks[id]

    async def contract(self, file: TaskFile) -> bytes:
        """What a task file declares; a problem where it cannot work."""
        try:
            return await asyncio.to_thread(contract_of, file)
        except SottovoceError as error:
            raise Problem("bad-task", str(error)) from error

    async def create(self, file: TaskFile) -> tuple[LiveTask, bool]:
        """The task, and whether it is new."""
        body = await self.contract(file)
        async with self._changing:
            if known := self.tasks.get(file.id):
                if known.digest == digest_of(body):
                    return known, False
                detail = f"devices have joined another contract of {file.id}; choose another id"
                raise Problem("contract-differs", detail)
            row = await self._thread.run(self._store.create, file.id, body, file.mode)
            if row.body != body:  # another process was faster
                raise Problem("contract-differs", f"somebody has just made another {file.id}; choose another id")
            task = self._add(row)
        self._learner.wake()
        self._learner.announce()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(task.prepared.wait(), PREPARING_SECONDS)
        if task.broken:
            raise Problem("bad-task", f"{file.id} is kept, but its learner fails; the server's log says where")
        log("task created", task=file.id, learner=file.learner, epsilon=file.privacy.epsilon)
        return task, True

    async def predict(self, task: LiveTask, prediction: Prediction) -> None:
        """Keep what is expected of a task; only before its first report, so that it is a prediction."""
        async with self._changing:
            if task.reports:
                raise Problem("too-late", f"{task.contract.id} has reports; what is expected is said before the first")
            kept = msgspec.json.encode(prediction)
            await self._thread.run(self._store.predict, task.row.number, kept)
            task.row = task.row._replace(prediction=kept)
        self._learner.announce()

    async def roll_back(self, task: LiveTask, learned: int) -> bool:
        """To the state after so many reports: what came later is learned from no more. Is it done, or only begun?"""
        check_count(task, await self.snapshots(task), learned)
        before = task.news.left_out
        task.answered.clear()
        self._learner.ask(Wish(task.row.number, learned))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(task.answered.wait(), PREPARING_SECONDS)
        log("rolled back", logging.WARNING, task=task.contract.id, learned=learned, done=task.news.left_out > before)
        return task.news.left_out > before

    async def snapshots(self, task: LiveTask) -> SnapshotList:
        if not (task.news.state or task.broken):
            raise not_ready("the learner is still starting")
        return listed(await self._thread.run(self._store.snapshots, task.row.number), task.news.learned)

    async def history(self, task: LiveTask) -> list[Tally]:
        return await self._thread.run(self._store.history, task.row.number)

    async def change(self, task: LiveTask, **changes: Any) -> None:
        """Pause, resume or promote a task."""
        async with self._changing:
            row = task.row._replace(**changes)
            await self._thread.run(self._store.change, row.number, row.mode, row.paused)
            task.row = row
        self._learner.announce()
        log("status changed", task=task.contract.id, mode=row.mode, paused=row.paused)

    # --- reports -----------------------------------------------------------------------------------------------------

    async def hear(
        self, task: LiveTask, reports: Sequence[TicketReport] | Sequence[ModelReport], client: str
    ) -> Verdicts:
        """What devices of one client report."""
        verdicts = await self.take(task, functools.partial(task.judge, reports))
        task.balance.sent(client, verdicts.count("accepted"))
        return Verdicts(verdicts=verdicts)

    async def take(self, task: LiveTask, judge: Callable[[float], list[Journalled | Verdict]]) -> list[Verdict]:
        """One verdict per report; those accepted are on disk. `judge(now)` says which are good."""
        judged = judge(self.clock())
        if self._store.shared and "unknown-version" in judged:  # another process may have served it already
            await self._take_publications(task)
            judged = judge(self.clock())
        good = [one for one in judged if not isinstance(one, str)]
        fresh = iter(await self._thread.append(good) if good else [])
        verdicts: list[Verdict] = [
            one if isinstance(one, str) else "accepted" if next(fresh) else "duplicate" for one in judged
        ]
        for verdict in set(verdicts):
            count = verdicts.count(verdict)
            self._count(task.contract.id, verdict).inc(count)
            if task.count(verdict, count):
                self._history.refuse(task.row.number, verdict, count)
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
        self.metrics.ready.set(not self.trouble)
        self.metrics.running.set(self._learner.running)
        self.metrics.leads.set(self._learner.leads)
        self.metrics.silent.set(self.clock() - self._heard)
        tell_tasks(self.metrics, self.tasks, self.clock())
        return self.metrics.page()

    def _committed(self, reports: int, seconds: float) -> None:
        self.metrics.commit.observe(seconds)
        self.metrics.group.observe(reports)
        self.tracing.commit(reports, seconds)

    def _add(self, row: TaskRow, counts: tuple[int, int] = (0, 0)) -> LiveTask:
        signed = row.contract.extensions.get("admission") == "signed"
        admit = functools.partial(self._thread.run, self._store.admit, row.number)
        tokens = TokenDesk(self._admission_key, row.contract.id, admit) if signed else None
        task = LiveTask(row, self._key, counts, tokens, self._store.shared)
        self.tasks[task.contract.id] = task
        return task

    # --- background work ---------------------------------------------------------------------------------------------

    async def _told(self, news: News) -> None:
        """Serve what the learner has published; let what it has kept a base of be forgotten."""
        self._learner_waits, self._heard = news.faulty, self.clock()
        if news.task:
            await self._background.insist("news", self._heed, news)

    async def _heed(self, news: News) -> None:
        async with self._changing:  # the learner may have found a task that is just being created
            task = self._by_number(news.task)
            if task is None:  # whoever created it went away before it was here
                task = self._add((await self._thread.run(self._store.tasks, news.task - 1))[0])
        task.broken = news.broken
        if news.broken:
            task.prepared.set()
            return
        rolled_back = news.left_out != task.news.left_out
        if rolled_back or news.published > task.published_after:
            await self._take_publications(task, everything=rolled_back)
        task.news = news
        if news.answers:
            task.answered.set()
        if news.base and self._learner.leads:
            self._bases.put_nowait(news)

    async def _take_publications(self, task: LiveTask, *, everything: bool = False) -> None:
        after = -1 if everything else task.published_after
        task.take(await self._thread.run(self._store.publications, task.row.number, after), self.clock())

    def _by_number(self, number: int) -> LiveTask | None:
        return next((task for task in self.tasks.values() if task.row.number == number), None)

    async def _keep_tidy(self) -> None:
        """Let the store tidy up, in another thread and through another connection, which is closed after the thread."""
        loop = asyncio.get_running_loop()
        with contextlib.closing(self._store.clone()) as store, ThreadPoolExecutor(1, "tidying") as thread:
            while True:
                await asyncio.sleep(TIDY_SECONDS)
                if self._thread.faulty:
                    with contextlib.suppress(Problem):
                        await self._thread.probe()
                else:
                    await self._background.insist("tidying", loop.run_in_executor, thread, store.tidy)

    async def _keep_refreshing(self) -> None:
        """What other processes have changed, as soon as they say so, and now and then without that."""
        changed = self._learner.changed
        while True:
            await self._background.insist("refreshing", self._refresh)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(REFRESH_SECONDS):  # `wait_for` of Python 3.11 may lose a cancellation
                    await changed.wait()
            changed.clear()

    async def _refresh(self) -> None:
        standings = await self._thread.run(self._store.standings)
        async with self._changing:
            known = {task.row.number: task for task in self.tasks.values()}
            if any(one.number not in known for one in standings):
                for row in await self._thread.run(self._store.tasks, max(known, default=0)):
                    known[row.number] = self._add(row)
            for one in standings:
                task = known[one.number]
                task.row = task.row._replace(mode=one.mode, paused=one.paused)
                task.reports, task.warm = one.reports, one.warm

    async def _keep_retention(self) -> None:
        """Look for reports that are older than their task keeps them; where many serve, one of them does."""
        while True:
            while self.trouble or not self._learner.leads:
                await asyncio.sleep(1.0)
            for task in list(self.tasks.values()):
                await self._background.insist("retention", self._retention.look, task)
            await asyncio.sleep(RETENTION_SECONDS)

    async def _keep_forgetting(self) -> None:
        while True:
            base = await self._bases.get()
            await self._background.insist("forgetting", self._retention.forget, self._by_number(base.task), base.seq)
