"""How many connections there may be, and how long each may take. HTTP is granian's work; these are its limits.

granian closes a connection that has not sent a whole header within `HEADER_SECONDS`, counted from when it was opened or
last answered: one deadline for slow headers and for idle connections. It has no limit per address and none for answers
that nobody reads. So the open connections of this process are counted every second, and those that are too many are
ended; and the system ends those that take no answer. Both are done to the sockets themselves.
"""

import asyncio
import contextlib
import os
import resource
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterator

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.addresses import group_of

HEADER_SECONDS = 10
"""For a whole header, and for the next request on a connection that is kept."""
LARGEST_HEADER = 2**16
"""Bytes."""
LARGEST_NUMBER = 16_384
"""Connections at once; more wait until one ends."""
LEAST_NUMBER = 64
"""With fewer, some who say nothing would keep out everybody else."""
LARGEST_SHARE = 512
"""Connections of one address: enough for thousands of devices behind it, because each connects for seconds only."""
RESERVED = 256
"""Files that the journal and the learner need besides."""
UNREAD_SECONDS = 20
"""After which a connection ends whose other side takes nothing of an answer."""
COUNT_SECONDS = 1.0
AT_ONCE, PAUSE_SECONDS = 20, 0.005
"""Files looked at, a small part of a millisecond, before others have their turn."""

Known = dict[str, tuple[str, int]]
"""By number of an open file: whose connection it is, and the inode of the socket for which that was found."""


def room() -> int:
    """How many connections this process can have, once its limit of open files is as high as it may be."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < RESERVED + LEAST_NUMBER:
        raise ConfigurationError(
            f"this process may have {hard} files open, and a server needs {RESERVED + LEAST_NUMBER}; raise the limit, "
            "with `ulimit -n` or LimitNOFILE of systemd"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return LARGEST_NUMBER if hard == resource.RLIM_INFINITY else min(LARGEST_NUMBER, hard - RESERVED)


@contextlib.asynccontextmanager
async def guarded(port: int, most: int) -> AsyncIterator[None]:
    """No address has more connections to this port than that for longer than a few seconds."""

    async def guard() -> None:
        await asyncio.sleep(COUNT_SECONDS)  # by then it listens
        _end_unread_answers(port)
        known: Known = {}
        while True:
            await _end_surplus(port, most, known)
            await asyncio.sleep(COUNT_SECONDS)

    guarding = asyncio.create_task(guard())
    try:
        yield
    finally:
        guarding.cancel()


async def _end_surplus(port: int, most: int, known: Known) -> None:
    found = Counter[str]()
    for number, file in enumerate(_open_files()):
        if number % AT_ONCE == 0:
            await asyncio.sleep(PAUSE_SECONDS)
        with contextlib.suppress(OSError):
            address = _address(file, port, known)
            found[address] += 1
            if address and found[address] > most:
                with _socket(file, port) as connection:
                    connection.shutdown(socket.SHUT_RDWR)


def _address(file: str, port: int, known: Known) -> str:
    """Whose connection an open file is; nothing where it is none of this port. A connection is asked once."""
    inode = os.fstat(int(file)).st_ino
    if known.get(file, ("", -1))[1] != inode:
        known[file] = "", inode
        with contextlib.suppress(OSError), _socket(file, port) as connection:
            known[file] = group_of(connection.getpeername()[0]), inode
    return known[file][0]


def _end_unread_answers(port: int) -> None:
    """Tell the system, which tells every connection that the listening socket accepts from now on."""
    for file in _open_files():
        with contextlib.suppress(OSError), _socket(file, port) as listening:
            if listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * UNREAD_SECONDS)


def _open_files() -> Iterator[str]:
    """Of this process, one by one, because there may be thousands; none where the system does not say."""
    with contextlib.suppress(OSError), os.scandir("/proc/self/fd") as entries:
        for entry in entries:
            yield entry.name


@contextlib.contextmanager
def _socket(file: str, port: int) -> Iterator[socket.socket]:
    """The open file with this number if it is a socket of this port, or OSError. granian's: not to be closed here."""
    borrowed = socket.socket(fileno=int(file))
    try:
        if borrowed.family == socket.AF_UNIX or borrowed.getsockname()[1] != port:
            raise OSError("another socket")
        yield borrowed
    finally:
        borrowed.detach()
