"""Reports over time: how many were accepted and how many refused, by hour and then by day. Flat in memory and on disk.

The store counts what is accepted together with the reports themselves. What is refused is gathered here and written
once a second, so that a refusal costs no write of its own; a crash loses the refusals of the last second.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from sottovoce.server.store.base import DAY_HOURS, Store, Tally, hour_of
from sottovoce.server.store.thread import StoreThread

WRITE_SECONDS = 1.0
HOURLY_DAYS = 2
"""Whole days before today of which hours are kept. After that nothing finer than a day is known of when people came."""
KEPT_DAYS = 400
"""Days that are kept: a year, and the same season one year before."""


class History:
    """Writes the history of all tasks."""

    def __init__(self, thread: StoreThread[Store], clock: Callable[[], float]) -> None:
        self._thread, self._clock = thread, clock
        self._refused: Counter[tuple[int, int, str]] = Counter()
        """By task, hour and verdict; not written yet."""
        self._thinned = 0
        """The day on which hours were last turned into days."""

    def refuse(self, task: int, verdict: str, reports: int) -> None:
        self._refused[task, hour_of(self._clock()), verdict] += reports

    async def keep(self, insist: Callable[..., Awaitable[None]]) -> None:
        """For as long as the server runs; `insist` tries again where the disk has a fault."""
        while True:
            await asyncio.sleep(WRITE_SECONDS)
            await insist("history", self.write)

    async def write(self) -> None:
        """What has been refused since the last time; and once a day what is old becomes shorter."""
        if self._refused:
            refused, self._refused = self._refused, Counter()
            try:
                tallies = [Tally(*key, count) for key, count in refused.items()]
                await self._thread.run(self._thread.store.tally, tallies)
            except BaseException:
                self._refused.update(refused)
                raise
        if (today := hour_of(self._clock()) // DAY_HOURS) != self._thinned:
            hourly, first = ((today - days) * DAY_HOURS for days in (HOURLY_DAYS, KEPT_DAYS))
            await self._thread.run(self._thread.store.thin, hourly, first)
            self._thinned = today
