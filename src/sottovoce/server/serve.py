"""`sottovoce serve`: one process that listens, and its learner."""

import asyncio
import gc
import logging
import signal
import sys
from pathlib import Path

import uvloop
from granian.constants import Interfaces
from granian.server.embed import Server

from sottovoce.server.coordination import ChildLearner, only_one
from sottovoce.server.logs import log, to_stderr
from sottovoce.server.store import open_store
from sottovoce.server.web.app import Application
from sottovoce.server.web.hub import Hub

SWITCH_SECONDS = 0.0005
"""How long the store's thread, back from the disk, waits for the event loop to let it go on; Python's own is ten times
as long, which is longer than the disk takes."""


def serve(folder: Path, *, host: str, port: int, token: str, rate: float) -> None:
    """Listen until told to stop (SIGTERM or SIGINT); then write what waits and end."""
    to_stderr()
    with only_one("server", folder, wait=False):
        uvloop.run(_serve(folder, host, port, token, rate))


async def _serve(folder: Path, host: str, port: int, token: str, rate: float) -> None:
    async with Hub(open_store(folder), ChildLearner(folder)) as hub:
        server = Server(
            Application(hub, token, rate), host, port, interface=Interfaces.ASGINL, websockets=False, log_enabled=False
        )
        for name in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(name, server.stop)
        log("listening", address=f"http://{host}:{port}", data=str(folder), tasks=len(hub.tasks))
        if not token:
            log("no admin token: tasks cannot be managed; set SOTTOVOCE_ADMIN_TOKEN", logging.WARNING)
        gc.freeze()  # what was made for the start stays, and is not looked at again
        sys.setswitchinterval(SWITCH_SECONDS)
        await server.serve()
        log("stopping")
    log("stopped")
