"""A web process and its learner on one host: a child process, its two pipes, and locks on files."""

import asyncio
import fcntl
import logging
import os
import re
import select
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import IO

import msgspec

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.coordination.messages import News, Wish
from sottovoce.server.logs import log

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0
"""Seconds before a learner that ended is started again; twice as long each time until there is news."""
LONGEST = 2**20
"""Bytes of a line of news."""
LAST_SECONDS = 5.0
"""How long a learner may take to save its state when the server stops; the journal has all that it did not save."""


ADDRESS = "SOTTOVOCE_STORE"
"""The variable of the environment with the address of the store."""
WISH = re.compile(rb"\d+( \d+)?")
"""A line with a wish."""


class ChildLearner:
    """The learner as the web process sees it: a child process, started again should it ever end."""

    leads = True
    """Is this the learner that learns?"""
    wake_seconds = 0.005
    """Reports that come within this time wake the learner once."""

    def __init__(self, address: str, folder: Path) -> None:
        self._command = (sys.executable, "-m", "sottovoce.server.learn.process", str(folder))
        self._environment = os.environ | {ADDRESS: address}  # which may hold a password: not in the command
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = self._waking = False
        self.changed = asyncio.Event()
        """Has another web process made or changed a task?"""

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int:
        """Of its process; 0 while none runs."""
        return self._process.pid if self._process and self.running else 0

    def wake(self) -> None:
        """There is something new in the store."""
        if not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_later(self.wake_seconds, self._wake)

    def ask(self, wish: Wish) -> None:
        self._say(" ".join(str(number) for number in wish if number is not None).encode() + b"\n")

    def announce(self) -> None:
        """A task was made or changed: there is no other web process to be told."""

    async def run(self, told: Callable[[News], Awaitable[None]], restarted: Callable[[], None]) -> None:
        """Pass its news on, for as long as the server runs."""
        pause, pipe = FIRST_PAUSE, asyncio.subprocess.PIPE
        while not self._stopping:
            self._process = await asyncio.create_subprocess_exec(
                *self._command, env=self._environment, stdin=pipe, stdout=pipe, limit=LONGEST
            )
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
        self.ear, self._mouth, self._heard = ear, mouth, b""

    def stand_by(self, meanwhile: Callable[[], None]) -> list[Wish] | None:
        """What is asked for, at once; None when the web process is gone."""
        return self.listen(0.0)

    def retire(self) -> None:
        """Nobody else is to be told."""

    def listen(self, wait: float) -> list[Wish] | None:
        """What is asked for; nothing when woken or after waiting; None when the web process is gone."""
        if not select.select([self.ear], [], [], wait)[0]:
            return []
        said = os.read(self.ear, 65536)
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
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = os.open(folder / f"{role}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        detail = f"{error.strerror}; let this user write there, or choose another --data"
        raise ConfigurationError(f"cannot write to {folder}: {detail}") from error
    lock = open(place, "w")  # noqa: SIM115 (the caller's context closes it)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        lock.close()
        raise ConfigurationError(f"another {role} uses {folder}; stop it, or choose another --data") from error
    return lock
