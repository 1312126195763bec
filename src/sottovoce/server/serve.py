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

from sottovoce.server.addresses import url_of
from sottovoce.server.admins import Admins
from sottovoce.server.connections import room
from sottovoce.server.coordination import learner_of
from sottovoce.server.coordination.pipes import only_one
from sottovoce.server.listening import listen, told_to_stop
from sottovoce.server.logs import log, to_stderr
from sottovoce.server.store import is_shared, open_store
from sottovoce.server.tracing import VARIABLE, Level, Tracing, tracing_of
from sottovoce.server.web.app import Application
from sottovoce.server.web.hub import Hub

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
    stop, most = told_to_stop(), room()
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, admins.look)
    if parent := multiprocessing.parent_process():
        asyncio.get_running_loop().add_reader(parent.sentinel, stop.set)
    store = open_store(address)
    async with Hub(store, learner_of(store, address, folder), tracing=tracing) as hub:
        log("listening", address=url_of(host, port), data=str(folder), tasks=len(hub.tasks), connections=most)
        if admins.none:
            log("no admin token: tasks cannot be managed; set SOTTOVOCE_ADMIN_TOKEN or --tokens", logging.WARNING)
        gc.freeze()  # what was made for the start stays, and is not looked at again
        sys.setswitchinterval(SWITCH_SECONDS)
        application = Application(hub, admins, rate, proxies)
        await listen(application, host, port, most=most, proxies=proxies, stop=stop)
        log("stopping")
    log("stopped")
