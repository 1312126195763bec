"""The journal's writer: reports are on disk before anybody is told that they were accepted.

One thread owns the store's writing side. It takes whatever has gathered, from however many requests, writes it as one
transaction and answers all of them (group commit): the disk is synced once for many.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sottovoce.service.problems import Problem
from sottovoce.service.store import Report, Store

LARGEST_GROUP = 4096
"""Reports in one transaction."""
LARGEST_QUEUE = 50_000
"""Reports that may wait; beyond that people are asked to come back."""


class _Job(NamedTuple):
    future: asyncio.Future
    reports: Sequence[Report] = ()
    work: Callable[[Store], Any] | None = None


class Journal:
    """Everything that writes to the store passes here, in order."""

    def __init__(self, store: Store, committed: Callable[[int, float], None] = lambda reports, seconds: None) -> None:
        self._store, self._committed = store, committed
        self._jobs: deque[_Job] = deque()
        self._waiting = 0
        self._wake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Reports that are not written yet."""
        return self._waiting

    async def append(self, reports: Sequence[Report]) -> list[bool]:
        """Keep the reports; True for those that were not there before. Returns when they are on disk."""
        if self._waiting + len(reports) > LARGEST_QUEUE:
            raise Problem("not-ready", "more reports came than the disk can take; send again", retry_after=1)
        self._waiting += len(reports)
        try:
            return await self._submit(reports=reports)
        finally:
            self._waiting -= len(reports)

    async def write(self, work: Callable[[Store], Any]) -> Any:
        """Anything else that writes to the store, in its turn."""
        return await self._submit(work=work)

    def close(self) -> None:
        """Write what waits, then stop."""
        self._stopping = True
        self._wake.set()
        self._thread.join()

    def _submit(self, **job: Any) -> asyncio.Future:
        future = asyncio.get_running_loop().create_future()
        self._jobs.append(_Job(future, **job))
        self._wake.set()
        return future

    def _run(self) -> None:
        while not (self._stopping and not self._jobs):
            self._wake.wait()
            self._wake.clear()
            while self._jobs:
                self._work_off()

    def _work_off(self) -> None:
        """One job of another kind, or as many batches of reports as fit into a group."""
        if work := self._jobs[0].work:
            _answer([self._jobs.popleft()], lambda: [work(self._store)])
            return
        group, size = [], 0
        while self._jobs and not self._jobs[0].work and size < LARGEST_GROUP:
            group.append(self._jobs.popleft())
            size += len(group[-1].reports)
        _answer(group, lambda: self._append(group))

    def _append(self, group: list[_Job]) -> list[list[bool]]:
        start = time.perf_counter()
        reports = [report for job in group for report in job.reports]
        fresh = iter(self._store.append(reports))
        self._committed(len(reports), time.perf_counter() - start)
        return [[next(fresh) for _ in job.reports] for job in group]


def _answer(group: list[_Job], work: Callable[[], list[Any]]) -> None:
    """Do the work of these jobs and tell their event loop, all at once."""
    try:
        results, error = work(), None
    except Exception as failure:
        results, error = [None] * len(group), failure

    def tell() -> None:
        for job, result in zip(group, results, strict=True):
            if job.future.done():  # whoever asked has gone
                continue
            if error:
                job.future.set_exception(error)
            else:
                job.future.set_result(result)

    group[0].future.get_loop().call_soon_threadsafe(tell)
