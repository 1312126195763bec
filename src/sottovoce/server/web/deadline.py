"""How long many short waits may take, by one clock for all of them: a timer for each would cost more than the wait."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

LOOK_SECONDS = 1.0
"""How often it is looked who waits for too long."""

Found = TypeVar("Found")


class Deadline:
    """The same for all who wait: so many seconds, and up to LOOK_SECONDS more.

    >>> async def two():
    ...     return 2
    >>> asyncio.run(Deadline(10.0, TimeoutError).within(two()))
    2
    """

    def __init__(self, seconds: float, missed: Callable[[], Exception]) -> None:
        self._seconds, self._missed = seconds, missed
        self._since: dict[asyncio.Task[Any], float] = {}
        """Who waits, in order, in the time of the event loop."""
        self._late: set[asyncio.Task[Any]] = set()
        self._looking = False

    async def within(self, work: Coroutine[Any, Any, Found]) -> Found:
        """What is found in time; else this task is told that it missed the deadline."""
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        self._since[task] = loop.time()
        if not self._looking:
            self._look(loop)
        try:
            return await work
        except asyncio.CancelledError:
            if task in self._late and not task.uncancel():  # nobody else has cancelled it
                raise self._missed() from None
            raise
        finally:
            del self._since[task]
            self._late.discard(task)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Now, and every LOOK_SECONDS while somebody waits."""
        now = loop.time()
        for task, since in self._since.items():
            if now - since > self._seconds and task not in self._late:
                self._late.add(task)
                task.cancel()
        self._looking = bool(self._since)
        if self._looking:
            loop.call_later(LOOK_SECONDS, self._look, loop)
