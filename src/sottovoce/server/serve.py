"""`sottovoce serve`: one process that listens, and its learner."""

import asyncio
import contextlib
import gc
import logging
import multiprocessing
import os
import signal
import sys
from pathlib import Path

import uvloop
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from sottovoce.server.admins import Admins
from sottovoce.server.connections import HEADER_SECONDS, LARGEST_HEADER, LARGEST_SHARE, guarded, room
from sottovoce.server.coordination import learner_of
from sottovoce.server.coordination.pipes import only_one
from sottovoce.server.logs import log, to_stderr
from sottovoce.server.store import is_shared, open_store
from sottovoce.server.tracing import VARIABLE, Level, Tracing, tracing_of
from sottovoce.server.web.app import Application
from sottovoce.server.web.hub import Hub

STOPPING_SECONDS = 3.0
"""How long requests may take to end once the server is told to stop; with the learner's time it is less than ten."""
SWITCH_SECONDS = 0.0005
"""How long the store's thread, back from the disk, waits for the event loop to let it go on; Python's own is ten times
as long, which is longer than the disk takes."""


def serve(
    address: str,
    folder: Path,
    *,
    host: str,
    port: int,
    admins: Admins,
    rate: float,
    proxies: int,
    trace: Level | None = None,
) -> None:
    """Listen until told to stop (SIGTERM, SIGINT, or the end of a parent); then write what waits and end."""
    to_stderr()
    if trace:
        os.environ[VARIABLE] = trace  # for the learner's process too
    alone = contextlib.nullcontext() if is_shared(address) else only_one("server", folder, wait=False)
    with alone, contextlib.closing(tracing_of(trace)) as tracing:
        uvloop.run(_serve(address, folder, host, port, admins, rate, proxies, tracing))


async def _serve(
    address: str, folder: Path, host: str, port: int, admins: Admins, rate: float, proxies: int, tracing: Tracing
) -> None:
    stop, most = asyncio.Event(), room()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, admins.look)
    if parent := multiprocessing.parent_process():
        asyncio.get_running_loop().add_reader(parent.sentinel, stop.set)
    store = open_store(address)
    async with Hub(store, learner_of(store, address, folder), tracing=tracing) as hub:
        server = Server(
            Application(hub, admins, rate, proxies),
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
        log("listening", address=f"http://{host}:{port}", data=str(folder), tasks=len(hub.tasks), connections=most)
        if admins.none:
            log("no admin token: tasks cannot be managed; set SOTTOVOCE_ADMIN_TOKEN or --tokens", logging.WARNING)
        gc.freeze()  # what was made for the start stays, and is not looked at again
        sys.setswitchinterval(SWITCH_SECONDS)
        async with guarded(port, most if proxies else min(LARGEST_SHARE, most // 4)):
            await _listen(server, stop)
        log("stopping")
    log("stopped")


async def _listen(server: Server, stop: asyncio.Event) -> None:
    """Until told to stop. Nobody who holds a connection open can hold up the end."""
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
