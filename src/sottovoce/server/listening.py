"""HTTP on one port until the process is told to stop: granian with our limits, around any application."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from sottovoce.server.connections import HEADER_SECONDS, LARGEST_HEADER, LARGEST_SHARE, guarded
from sottovoce.server.logs import log

STOPPING_SECONDS = 3.0
"""How long requests may take to end once the server is told to stop; with the learner's time it is less than ten."""

Asgi = Callable[..., Awaitable[Any]]


def told_to_stop() -> asyncio.Event:
    """Set by SIGTERM or SIGINT from now on."""
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    return stop


async def listen(application: Asgi, host: str, port: int, *, most: int, proxies: int, stop: asyncio.Event) -> None:
    """Until told to stop; `most` connections at once. Nobody who holds a connection open can hold up the end."""
    server = Server(
        application,
        host,
        port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=1000 * HEADER_SECONDS, max_buffer_size=LARGEST_HEADER),
        backlog=most,
        backpressure=most,
        websockets=False,
        log_enabled=False,
    )
    async with guarded(port, most if proxies else min(LARGEST_SHARE, most // 4)):
        listening, told = asyncio.create_task(server.serve()), asyncio.create_task(stop.wait())
        await asyncio.wait([listening, told], return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        server.stop()
        await asyncio.wait([listening], timeout=STOPPING_SECONDS)
        if not listening.done():
            log("some requests did not end in time", logging.WARNING)
            listening.cancel()
        elif error := listening.exception():
            raise error
