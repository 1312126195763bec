"""A running shuffler: its tasks between the devices, its journal and the server."""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec

from sottovoce.protocol.contract import DAY
from sottovoce.protocol.errors import WireError
from sottovoce.protocol.offers import version_of
from sottovoce.protocol.wire import ModelReport, Verdict
from sottovoce.server.logs import log
from sottovoce.server.problems import Problem
from sottovoce.server.store.base import open_seconds, permit_seconds
from sottovoce.server.store.thread import StoreThread
from sottovoce.shuffler.journal import Journal
from sottovoce.shuffler.metrics import Metrics
from sottovoce.shuffler.task import MirroredTask, checked
from sottovoce.shuffler.upstream import Upstream

ASK_SECONDS = 2.0
"""How often the server is asked for the status of each task."""
MIX_SECONDS = 0.1
"""How long reports gather after one has come, before it is looked whether there are enough."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
"""Before a batch that the server did not take is sent again; twice as long each time."""
FORGET_SECONDS = 60.0
FAILURES = (OSError, WireError, Problem)
"""What passes: the server or the disk does not answer."""
FAILED = "background work failed"
"""What does not."""


class Shuffler:
    """Takes reports, keeps them on disk, and sends them on in batches, for as long as the context lasts."""

    def __init__(
        self,
        journal: Journal,
        upstream: Upstream,
        wanted: Sequence[str],
        batch: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`wanted` are the tasks that it is to serve; each is served once it is joined."""
        self.metrics, self.clock, self.tasks = Metrics(), clock, dict[str, MirroredTask]()
        self._journal, self._upstream, self._wanted, self._batch = journal, upstream, {*wanted}, batch
        self._thread, self._key = StoreThread(journal, clock=clock), journal.secret("permits")
        self._heard, self._news, self._work = clock(), asyncio.Event(), list[asyncio.Task[None]]()
        self._said: set[str] = set()
        """What the log has said, so that it is not said again before it is over."""

    async def __aenter__(self) -> "Shuffler":
        loops = (self._keep_asking(), self._keep_sending(), self._keep_forgetting())
        self._work = [asyncio.create_task(one) for one in loops]
        return self

    async def __aexit__(self, *error: object) -> None:
        for work in self._work:
            work.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        self._upstream.close()
        await self._thread.close()

    async def join(self, id: str) -> MirroredTask:
        """Serve this task from now on. Its contract is asked for once, and then it is this one or none."""
        kept = await self._thread.run(self._journal.task, id)
        if kept is None:
            body = await self._upstream.contract(id)
            checked(body, id)
            kept = await self._thread.run(self._journal.pin, id, body)
        task = self.tasks[id] = MirroredTask(id, kept, self._key, self._batch)
        if kept.status:
            task.take(
                task.status, kept.model, await self._thread.run(self._journal.versions, kept.number), self.clock()
            )
        return task

    @property
    def trouble(self) -> str:
        """Why reports cannot be taken now; empty when they can. A silent server is no trouble: reports wait."""
        if self._thread.faulty:
            return "the journal cannot be written to"
        if FAILED in self._said:
            return "background work fails; the log says where"
        heard = {id for id, task in self.tasks.items() if task.model}
        return "" if heard == self._wanted else "the server has not said all yet"

    async def take(self, task: MirroredTask, reports: Sequence[ModelReport]) -> list[Verdict]:
        """One verdict per report; those accepted are on disk."""
        judged = task.judge(reports, self.clock())
        good = [one for one in judged if not isinstance(one, str)]
        fresh = iter(await self._thread.append(good) if good else [])
        verdicts: list[Verdict] = [
            one if isinstance(one, str) else "accepted" if next(fresh) else "duplicate" for one in judged
        ]
        for verdict, count in Counter(verdicts).items():
            self.metrics.reports.labels(task.id, verdict).inc(count)
        self._news.set()
        return verdicts

    def metrics_page(self) -> bytes:
        self.metrics.silent.set(self.clock() - self._heard)
        return self.metrics.page()

    # --- the server --------------------------------------------------------------------------------------------------

    async def ask(self, task: MirroredTask) -> None:
        """The status, and the model if it is a new one. It is served once it is on disk."""
        status = await self._upstream.status(task.id)
        if status.digest != task.digest:
            raise WireError(f"the server has another contract for {task.id} than the one that is pinned here")
        model, now = task.model, self.clock()
        if status.version != task.version or not model:
            model = task.read_model(await self._upstream.model(task.id))
        self._heard = now
        if not task.says(status, model):
            news = (msgspec.json.encode(status), model, version_of(model), int(now))
            await self._thread.run(self._journal.keep_news, task.number, *news)
            task.take(status, model, await self._thread.run(self._journal.versions, task.number), now)

    async def mix(self) -> None:
        """Make batches of the groups that are large enough."""
        by_number, waiting = {task.number: task for task in self.tasks.values()}, Counter[str]()
        for group, count in (await self._thread.run(self._journal.groups)).items():
            if (task := by_number.get(group.task)) is None:
                continue  # a task that this shuffler serves no more
            mixed = 1
            while mixed and count >= task.least:
                mixed = await self._thread.run(self._journal.mix, group, task.least, task.most)
                count -= mixed
            waiting[task.id] += count
        for id in self.tasks:
            self.metrics.waiting.labels(id).set(waiting[id])

    async def send(self) -> None:
        """Send all batches; each is kept until the server has judged it, and is the same each time."""
        by_number = {task.number: task for task in self.tasks.values()}
        for number, group in await self._thread.run(self._journal.batches):
            if (task := by_number.get(group.task)) is None:
                continue
            verdicts = await self._upstream.send(task.id, group, await self._thread.run(self._journal.batch, number))
            if "task-paused" in verdicts:
                continue
            await self._thread.run(self._journal.settle, number)
            for verdict, count in Counter(verdicts).items():
                self.metrics.forwarded.labels(task.id, verdict).inc(count)

    async def forget(self) -> None:
        """Reports that the server would not take any more, and permits that have expired."""
        now = self.clock()
        for task in self.tasks.values():
            too_old = int(now) - open_seconds(task.contract)
            if lost := await self._thread.run(self._journal.lapse, task.number, too_old):
                self.metrics.lapsed.labels(task.id).inc(lost)
                log("too few reports answered a model; they are deleted", logging.WARNING, task=task.id, reports=lost)
            expired = int(now - permit_seconds(task.contract)) // DAY
            await self._thread.run(self._journal.forget_used, task.number, expired)

    # --- background work ---------------------------------------------------------------------------------------------

    async def _keep_asking(self) -> None:
        while True:
            if self._thread.faulty:
                await self._tried("the journal cannot be written to", self._thread.probe())
            for task in list(self.tasks.values()):
                await self._tried(f"the server does not say how {task.id} is", self.ask(task))
            await asyncio.sleep(ASK_SECONDS)

    async def _keep_sending(self) -> None:
        """As soon as there are enough, and now and then without a reason: the server may take what it did not take."""
        pause = FIRST_PAUSE
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), ASK_SECONDS)
            self._news.clear()
            await asyncio.sleep(MIX_SECONDS)
            await self._tried("reports cannot be mixed", self.mix())
            if await self._tried("the server takes no batches", self.send()):
                pause = FIRST_PAUSE
            else:
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _keep_forgetting(self) -> None:
        while True:
            await self._tried("what is old cannot be forgotten", self.forget())
            await asyncio.sleep(FORGET_SECONDS)

    async def _tried(self, complaint: str, work: Coroutine[Any, Any, None]) -> bool:
        """Did it work? If not, the log says so, once until it does."""
        try:
            await work
        except FAILURES as failure:
            if complaint not in self._said:
                log(complaint, logging.ERROR, why=str(failure))
            self._said.add(complaint)
            return False
        except Exception:
            log(FAILED, logging.CRITICAL, failure=True, work=complaint)
            self._said.add(FAILED)
            return False
        self._said.discard(complaint)
        return True
