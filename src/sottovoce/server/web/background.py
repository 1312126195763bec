"""Work beside serving, for as long as the server runs: what fails is tried again."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from sottovoce.server.logs import log

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
"""Seconds before work that failed is tried again; twice as long each time."""


class Background:
    """Several pieces of work, each with a name for the log."""

    def __init__(self) -> None:
        self._work: list[asyncio.Task] = []
        self._failing: set[str] = set()
        """What failed and is tried again."""

    @property
    def fails(self) -> bool:
        """Does any of it fail now, or has it ended?"""
        return bool(self._failing) or any(work.done() for work in self._work)

    def start(self, work: Mapping[str, Coroutine[Any, Any, None]]) -> None:
        """Begin with work that never ends by itself."""
        self._work = [asyncio.create_task(one, name=name) for name, one in work.items()]
        for one in self._work:
            one.add_done_callback(_log_end)

    async def stop(self) -> None:
        for work in self._work:
            work.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)

    async def insist(self, name: str, work: Callable[..., Awaitable[Any]], *arguments: Any) -> None:
        """Do this; should it fail, try again with longer and longer pauses."""
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


def _log_end(work: asyncio.Task) -> None:
    """Should work end by itself after all, the log says so and the server is not ready any more."""
    if not work.cancelled() and (error := work.exception()):
        log("background work ended", logging.CRITICAL, work=work.get_name(), error=type(error).__name__)
