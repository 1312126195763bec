"""How the web process and the learner's process work together on one store, and how each stays the only one.

The web process wakes the learner when the journal has grown, or has a `Wish`. The learner answers with news. Here both
use the pipes of a child process and locks on files; a database could bring the same messages to several machines.
"""

import asyncio
import fcntl
import logging
import os
import re
import select
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.logs import log

WAKE_SECONDS = 0.005
"""Reports that come within this time wake the learner once."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0
"""Seconds before a learner that ended is started again; twice as long each time until there is news."""
LONGEST = 2**20
"""Bytes of a line of news."""
LAST_SECONDS = 5.0
"""How long a learner may take to save its state when the server stops; the journal has all that it did not save."""


WISH = re.compile(rb"\d+( \d+)?")
"""A line with a wish."""


class News(msgspec.Struct, frozen=True, kw_only=True):
    """What the web process is told: how far one task is."""

    task: int
    """0: none, this is about the learner's process."""
    learned: int = 0
    published: int = 0
    state: str = ""
    seq: int = 0
    unread: int = 0
    """Entries of the journal that could not be read and were left out."""
    suspicious: bool = False
    """Can the newest reports not come from honest people alone?"""
    left_out: int = 0
    """Reports and rows that were rolled back."""
    answers: bool = False
    """Does this answer a wish to roll back?"""
    base: bool = False
    """Was the snapshot saved that replay may start from?"""
    broken: bool = False
    """Did its learner fail? Then it learns nothing more until the server starts again."""
    faulty: bool = False
    """Does the learner's process wait for a fault of the store to be over?"""


class Wish(NamedTuple):
    """What the web process asks for: a snapshot of a task that replay may start from, or to roll the task back."""

    task: int
    learned: int | None = None
    """Roll back to the state after so many reports."""


class ChildLearner:
    """The learner as the web process sees it: a child process, started again should it ever end."""

    def __init__(self, folder: Path) -> None:
        self._command = (sys.executable, "-m", "sottovoce.server.learn.process", str(folder))
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = self._waking = False

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def wake(self) -> None:
        """There is something new in the store."""
        if not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_later(WAKE_SECONDS, self._wake)

    def ask(self, wish: Wish) -> None:
        self._say(" ".join(str(number) for number in wish if number is not None).encode() + b"\n")

    async def run(self, told: Callable[[News], Awaitable[None]], restarted: Callable[[], None]) -> None:
        """Pass its news on, for as long as the server runs."""
        pause, pipe = FIRST_PAUSE, asyncio.subprocess.PIPE
        while not self._stopping:
            self._process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe, limit=LONGEST)
            assert self._process.stdout is not None
            async for news in _news(self._process.stdout):
                await told(news)
                pause = FIRST_PAUSE
            await self._process.wait()
            if not self._stopping:
                log("learner ended; starting it again", logging.ERROR, status=self._process.returncode)
                restarted()
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def stop(self) -> None:
        """Let it save its state and end."""
        self._stopping = True
        if self._process and self._process.stdin and self.running:
            self._process.stdin.close()
            try:
                await asyncio.wait_for(self._process.wait(), LAST_SECONDS)
            except TimeoutError:
                self._process.kill()

    def _wake(self) -> None:
        self._waking = False
        self._say(b"\n")

    def _say(self, line: bytes) -> None:
        if self._process and self._process.stdin and not self._process.stdin.is_closing():
            self._process.stdin.write(line)


async def _news(stream: asyncio.StreamReader) -> AsyncIterator[News]:
    """Line by line until the end. What is no news (a line cut off by the end of its writer, say) is passed over."""
    while not stream.at_eof():
        try:
            line = await stream.readline()
            if line:
                yield msgspec.json.decode(line, type=News)
        except (ValueError, msgspec.DecodeError):  # ValueError: longer than any news
            log("the learner said something that is no news", logging.WARNING)


# --- in the learner's process ----------------------------------------------------------------------------------------


class WebProcess:
    """The web process as the learner sees it: two pipes."""

    def __init__(self, ear: int, mouth: int) -> None:
        self._ear, self._mouth, self._heard = ear, mouth, b""

    def listen(self, wait: float) -> list[Wish] | None:
        """What is asked for; nothing when woken or after waiting; None when the web process is gone."""
        if not select.select([self._ear], [], [], wait)[0]:
            return []
        said = os.read(self._ear, 65536)
        *lines, self._heard = (self._heard + said).split(b"\n")  # the last one may go on in what is read next
        return [Wish(*map(int, line.split())) for line in lines if WISH.fullmatch(line)] if said else None

    def tell(self, news: Sequence[News]) -> bool:
        """Whether the web process is still there to read the news."""
        said = b"".join(msgspec.json.encode(one) + b"\n" for one in news)
        try:
            while said:
                said = said[os.write(self._mouth, said) :]
        except BrokenPipeError:
            return False
        return True


# --- in both ---------------------------------------------------------------------------------------------------------


def only_one(role: str, folder: Path, *, wait: bool) -> IO[str]:
    """The lock of the one process with this role. It ends with its process, however that ends."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = open(folder / f"{role}.lock", "w")  # noqa: SIM115 (the caller's context closes it)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        lock.close()
        raise ConfigurationError(f"another {role} uses {folder}; stop it, or choose another --data") from error
    return lock
