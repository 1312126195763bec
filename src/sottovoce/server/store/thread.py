"""The store as the web process uses it: one thread waits for the disk, and the event loop never does.

Requests that come together are written together (group commit): while one group is being synced the next one gathers,
so groups grow with the load, and each is handed to the thread and back once. Everybody is answered after the sync.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, Protocol, TypeVar

from sottovoce.server.logs import log
from sottovoce.server.problems import Problem, not_ready
from sottovoce.server.store.base import Journalled, StoreFault, hour_of

LARGEST_GROUP = 4096
"""Reports in one transaction: some tens of milliseconds, for which the next ones wait."""
LARGEST_QUEUE = 50_000
"""Reports that may wait; beyond that people are asked to come back."""
ANSWER_SECONDS = 8.0
"""How long a store may take to answer, which is less than devices wait; then it has a fault."""
FAULT_SECONDS = 5
"""When to come back while the store has a fault."""

Batch = tuple[Sequence[Journalled], asyncio.Future[list[bool]]]
Found = TypeVar("Found")


class Appending(Protocol):
    """What a store must do to be written to from here; see `Store`."""

    def append(self, reports: Sequence[Journalled], hour: int = 0) -> list[bool]: ...

    def probe(self) -> None: ...

    def close(self) -> None: ...


AnyStore = TypeVar("AnyStore", bound=Appending)


class StoreThread(Generic[AnyStore]):
    """A store, and the only thread that touches it."""

    def __init__(
        self,
        store: AnyStore,
        committed: Callable[[int, float], None] = lambda reports, seconds: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store, self._committed, self._clock = store, committed, clock
        self._thread = ThreadPoolExecutor(1, "store")
        self._batches: list[Batch] = []
        self._idle = asyncio.Event()
        self._idle.set()
        self.waiting = 0
        """Reports that are not written yet."""
        self.faulty = False
        """Has the store had a fault since it was last written to?"""

    async def run(self, work: Callable[..., Found], *arguments: Any) -> Found:
        """What a method of the store finds; a problem where the store has a fault."""
        try:
            return await self._in_time(asyncio.wrap_future(self._thread.submit(work, *arguments)))
        except StoreFault as fault:
            raise self._begun(fault) from fault

    async def probe(self) -> None:
        """Is the fault over?"""
        await self.run(self.store.probe)
        self._over()

    async def append(self, reports: Sequence[Journalled]) -> list[bool]:
        """Keep the reports; True for those that were not there before. Returns when they are on disk."""
        if self.waiting + len(reports) > LARGEST_QUEUE:
            raise not_ready("more reports came than the disk can take; send again")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[bool]] = loop.create_future()
        self._batches.append((reports, answer))
        self.waiting += len(reports)
        if self._idle.is_set():
            self._idle.clear()
            loop.call_soon(self._write, loop)
        try:
            return await self._in_time(answer)
        except StoreFault as fault:  # it may be kept all the same: whoever sends it again is told a duplicate
            raise self._begun(fault) from fault

    async def _in_time(self, answer: asyncio.Future[Found]) -> Found:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):  # `wait_for` of Python 3.11 may lose a cancellation
                return await answer
        except TimeoutError as error:
            raise StoreFault(f"no answer for {ANSWER_SECONDS:g} seconds") from error

    async def close(self) -> None:
        """Write what waits, and close the store."""
        await self._idle.wait()
        await self.run(self.store.close)
        self._thread.shutdown()

    def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hand the next group to the thread; the group after it is made when this one is on disk."""
        group, size = [], 0
        while self._batches and size < LARGEST_GROUP:
            group.append(self._batches.pop(0))
            size += len(group[-1][0])
        reports = [report for reports, _ in group for report in reports]
        start = time.perf_counter()
        written = self._thread.submit(self.store.append, reports, hour_of(self._clock()))

        def answer() -> None:
            self._answer(group, written.exception() or written.result(), time.perf_counter() - start)
            if self._batches:
                self._write(loop)
            else:
                self._idle.set()

        written.add_done_callback(lambda _: loop.call_soon_threadsafe(answer))

    def _answer(self, group: list[Batch], found: BaseException | list[bool], seconds: float) -> None:
        start, problem = 0, self._begun(found) if isinstance(found, StoreFault) else None
        for reports, answer in group:
            end = start + len(reports)
            if not answer.done():  # whoever asked may have gone
                if isinstance(found, BaseException):
                    answer.set_exception(problem or found)
                else:
                    answer.set_result(found[start:end])
            start = end
        self.waiting -= start
        if not isinstance(found, BaseException):
            self._committed(start, seconds)
            self._over()

    def _begun(self, fault: StoreFault) -> Problem:
        """What to tell those who ask; the log says it once."""
        if not self.faulty:
            log("the store has a fault; reports are sent back until it is over", logging.ERROR, fault=str(fault))
        self.faulty = True
        return not_ready("the store cannot take it now; send again", FAULT_SECONDS)

    def _over(self) -> None:
        if self.faulty:
            log("the store works again")
        self.faulty = False
