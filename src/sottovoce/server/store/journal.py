"""The journal's writer: reports are on disk before anybody is told that they were accepted.

Requests that come together are written together (group commit): whatever has gathered by the next turn of the event
loop is one transaction, synced once, and then everybody is answered. While the disk works new requests gather, so
groups grow with the load. There is no thread: handing every report from one thread to another and back costs more than
the sync (measured: decision 12).
"""

import asyncio
import time
from collections.abc import Callable, Sequence

from sottovoce.server.store import Report, Store
from sottovoce.server.web.problems import Problem

LARGEST_GROUP = 4096
"""Reports in one transaction."""
LARGEST_QUEUE = 50_000
"""Reports that may wait; beyond that people are asked to come back."""

Batch = tuple[Sequence[Report], asyncio.Future[list[bool]]]


class Journal:
    """Writes reports in groups."""

    def __init__(self, store: Store, committed: Callable[[int, float], None] = lambda reports, seconds: None) -> None:
        self._store, self._committed = store, committed
        self._batches: list[Batch] = []
        self.waiting = self.written = 0
        """Reports that are not written yet, and those that are."""

    async def append(self, reports: Sequence[Report]) -> list[bool]:
        """Keep the reports; True for those that were not there before. Returns when they are on disk."""
        if self.waiting + len(reports) > LARGEST_QUEUE:
            raise Problem("not-ready", "more reports came than the disk can take; send again", retry_after=1)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[bool]] = loop.create_future()
        if not self._batches:
            loop.call_soon(self.flush)
        self._batches.append((reports, answer))
        self.waiting += len(reports)
        return await answer

    def flush(self) -> None:
        """Write what waits."""
        while self._batches:
            group, size = [], 0
            while self._batches and size < LARGEST_GROUP:
                group.append(self._batches.pop(0))
                size += len(group[-1][0])
            self.waiting -= size
            self._write(group)

    def _write(self, group: list[Batch]) -> None:
        start = time.perf_counter()
        try:
            fresh = iter(self._store.append([report for reports, _ in group for report in reports]))
        except Exception as error:
            for _, answer in group:
                if not answer.done():
                    answer.set_exception(error)
            return
        for reports, answer in group:
            verdicts = [next(fresh) for _ in reports]
            if not answer.done():  # whoever asked may have gone
                answer.set_result(verdicts)
        size, seconds = sum(len(reports) for reports, _ in group), time.perf_counter() - start
        self.written += size
        self._committed(size, seconds)
