"""Single reports go after their days, a few at a time: those who report in between do not wait for all of them."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

from sottovoce.protocol.contract import DAY, Contract
from sottovoce.server.coordination.messages import Wish
from sottovoce.server.coordination.pipes import ChildLearner
from sottovoce.server.logs import log
from sottovoce.server.store.base import Store, permit_seconds
from sottovoce.server.store.thread import StoreThread
from sottovoce.server.web.task import LiveTask

RETENTION_SECONDS = 3600.0
"""How often the server looks for reports that are older than their task keeps them; retention is counted in days."""
SEEN_AT_ONCE, FORGOTTEN_AT_ONCE, IDS_AT_ONCE, RESTS = 4096, 250, 250, 9
"""Reports seen, and reports and ids seen and perhaps deleted, in one step: some milliseconds, for which those who
report wait. The next one comes after a rest of so many times as long."""

Found = TypeVar("Found")


class Retention:
    """Forgets what a task no longer keeps."""

    def __init__(self, thread: StoreThread[Store], learner: ChildLearner, clock: Callable[[], float]) -> None:
        self._thread, self._learner, self._clock = thread, learner, clock

    async def look(self, task: LiveTask) -> None:
        """Where single reports are older than their task keeps them, what was learned from them is kept first."""
        place, first = 0, oldest_kept(task.contract, self._clock())
        while seen := await self._unhurried(self._thread.store.walk, task.row.number, first, place, SEEN_AT_ONCE):
            if seen.old:
                self._learner.ask(Wish(task.row.number))
                return
            place = seen.last

    async def forget(self, task: LiveTask, seq: int) -> None:
        """What is older than is kept, up to this place, which a base of the task covers."""
        store, number, place, gone = self._thread.store, task.row.number, 0, 0
        first = oldest_kept(task.contract, self._clock())
        while seen := await self._unhurried(store.forget, number, first, place, seq, FORGOTTEN_AT_ONCE):
            place, gone = seen.last, gone + seen.old
        log("reports forgotten", task=task.contract.id, reports=gone)
        last: bytes | None = b""
        while last is not None:
            last = await self._unhurried(store.forget_ids, number, first, last, IDS_AT_ONCE)

    async def _unhurried(self, work: Callable[..., Found], *arguments: Any) -> Found:
        """What the store finds; and then it is left to others for some times as long as that took."""
        start = time.monotonic()
        found = await self._thread.run(work, *arguments)
        await asyncio.sleep(RESTS * (time.monotonic() - start))
        return found


def oldest_kept(contract: Contract, now: float) -> int:
    """The first day whose reports are kept; a report that may still be sent again is kept, to be told a duplicate."""
    return int(now - max(contract.retention, permit_seconds(contract))) // DAY
