"""`sottovoce shuffler`: the process."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

import uvloop

from sottovoce.client.http import Http
from sottovoce.protocol.errors import WireError
from sottovoce.server.addresses import url_of
from sottovoce.server.connections import room
from sottovoce.server.coordination.pipes import only_one
from sottovoce.server.listening import listen, told_to_stop
from sottovoce.server.logs import log, to_stderr
from sottovoce.shuffler.app import Application
from sottovoce.shuffler.journal import Journal
from sottovoce.shuffler.service import Shuffler
from sottovoce.shuffler.upstream import Upstream

SERVER_SECONDS = 8.0
"""How long the server may take to answer; whoever stops the shuffler waits no longer than that."""
JOIN_SECONDS = 1.0
"""Before a server that does not answer is asked again for a contract."""


def run(
    server: str,
    tasks: Sequence[str],
    folder: Path,
    *,
    token: str,
    batch: int,
    host: str,
    port: int,
    rate: float,
    proxies: int,
) -> None:
    """Listen until told to stop (SIGTERM or SIGINT); what waits is on disk."""
    to_stderr()
    with only_one("shuffler", folder, wait=False):
        upstream = Upstream(Http(server, timeout=SERVER_SECONDS), token)
        uvloop.run(_run(upstream, tasks, folder, batch, host, port, rate, proxies))


async def _run(
    upstream: Upstream, tasks: Sequence[str], folder: Path, batch: int, host: str, port: int, rate: float, proxies: int
) -> None:
    stop, most = told_to_stop(), room()
    async with Shuffler(Journal(folder), upstream, tasks, batch) as shuffler:
        joining = asyncio.create_task(_join(shuffler, tasks))
        joining.add_done_callback(lambda _: stop.set() if _failed(joining) else None)
        log("listening", address=url_of(host, port), data=str(folder), tasks=list(tasks))
        await listen(Application(shuffler, rate, proxies), host, port, most=most, proxies=proxies, stop=stop)
        log("stopping")
        joining.cancel()
        if _failed(joining):
            await joining
    log("stopped")


async def _join(shuffler: Shuffler, tasks: Sequence[str]) -> None:
    """Serve each task as soon as its contract is there; one that a shuffler cannot help ends the process."""
    for id in tasks:
        said = False
        while id not in shuffler.tasks:
            try:
                task = await shuffler.join(id)
                log("serves", task=id, digest=task.digest, batch=task.least)
            except (OSError, WireError) as failure:
                if not said:
                    log("the contract cannot be had yet", logging.WARNING, task=id, why=str(failure))
                said = True
                await asyncio.sleep(JOIN_SECONDS)


def _failed(work: "asyncio.Task[None]") -> bool:
    return work.done() and not work.cancelled() and work.exception() is not None
