"""The store as the web process uses it: one thread waits for the disk, and the event loop never does.

Requests that come together are written together (group commit): while one group is being synced the next one gathers,
so groups grow with the load. The thread takes the next group by itself as soon as it is back from the disk: handed over
by the event loop, every group would wait until the loop has time. Everybody is answered after the sync.
"""

import asyncio
import functools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
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
WATCH_SECONDS = 1.0
"""How often it is looked whether it does: one clock for all who wait."""
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
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="store", daemon=True)
        self._thread.start()
        self._batches: deque[Batch] = deque()
        """Added by the event loop, taken by the thread."""
        self._group: list[Batch] = []
        """What the thread took last."""
        self._writing = self._watching = False
        """Will the thread come to look for batches, and the event loop to look at the time?"""
        self._idle = asyncio.Event()
        self._idle.set()
        self._answered = 0.0
        """When somebody was last answered or began to wait alone, in the time of the event loop."""
        self.waiting = 0
        """Reports that are not written yet."""
        self.faulty = False
        """Has the store had a fault since it was last written to?"""

    async def run(self, work: Callable[..., Found], *arguments: Any) -> Found:
        """What a method of the store finds; a problem where the store has a fault."""
        answer: Future[Found] = Future()
        self._jobs.put(functools.partial(_settle, answer, functools.partial(work, *arguments)))
        try:
            return await self._in_time(asyncio.wrap_future(answer))
        except StoreFault as fault:
            raise self._begun(fault) from fault

    async def _in_time(self, answer: asyncio.Future[Found]) -> Found:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):  # `wait_for` of Python 3.11 may lose a cancellation
                return await answer
        except TimeoutError:
            raise _silence() from None

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
        if not self.waiting:
            self._idle.clear()
            self._watch(loop)
        self.waiting += len(reports)
        self._batches.append((reports, answer))
        if not self._writing:
            self._writing = True
            loop.call_soon(self._ask_for_a_group, loop)  # with whatever comes in this turn of the loop
        return await answer

    async def close(self) -> None:
        """Write what waits, and close the store."""
        await self._idle.wait()
        await self.run(self.store.close)
        self._jobs.put(None)
        self._thread.join()

    # --- in the thread -----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        """One job after the other."""
        while job := self._jobs.get():
            job()

    def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        """One group; the next one after whatever else the store was asked for meanwhile."""
        self._group = group = self._taken()
        start = time.perf_counter()
        if group:
            found = self._kept([report for reports, _ in group for report in reports])
            loop.call_soon_threadsafe(self._answer, loop, group, found, time.perf_counter() - start)
        self._writing = False
        if self._batches:  # asked after the line above: what comes later than that brings the thread back
            self._writing = True
            self._ask_for_a_group(loop)

    def _ask_for_a_group(self, loop: asyncio.AbstractEventLoop) -> None:
        self._jobs.put(functools.partial(self._write, loop))

    def _taken(self) -> list[Batch]:
        group, size = [], 0
        while self._batches and size < LARGEST_GROUP:
            group.append(self._batches.popleft())
            size += len(group[-1][0])
        return group

    def _kept(self, reports: list[Journalled]) -> BaseException | list[bool]:
        try:
            return self.store.append(reports, hour_of(self._clock()))
        except BaseException as error:
            return error

    # --- in the event loop -------------------------------------------------------------------------------------------

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """From the first who waits: look now and then whether anybody is answered."""
        self._answered = loop.time()
        if not self._watching:
            self._watching = True
            loop.call_later(WATCH_SECONDS, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Where the store was silent for too long, all who wait are told of the fault.

        Their reports may be kept all the same: whoever sends one again is told a duplicate.
        """
        self._watching = bool(self.waiting)
        if not self._watching:
            return
        if loop.time() - self._answered > ANSWER_SECONDS:
            problem = self._begun(_silence())
            for _, answer in [*self._group, *self._batches]:
                if not answer.done():
                    answer.set_exception(problem)
        loop.call_later(WATCH_SECONDS, self._look, loop)

    def _answer(
        self, loop: asyncio.AbstractEventLoop, group: list[Batch], found: BaseException | list[bool], seconds: float
    ) -> None:
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
        self._answered = loop.time()
        if not isinstance(found, BaseException):
            self._committed(start, seconds)
            self._over()
        if not self.waiting:
            self._idle.set()

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


def _settle(answer: Future[Found], work: Callable[[], Found]) -> None:
    if answer.set_running_or_notify_cancel():  # whoever asked may have gone
        try:
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)


def _silence() -> StoreFault:
    return StoreFault(f"no answer for {ANSWER_SECONDS:g} seconds")
