"""`sottovoce serve --workers N`: several web processes on one host, and the parent that looks after them.

Each has a port of its own, so that a balancer, and whoever asks for `/metrics` and `/readyz`, knows whom it talks to.
The parent serves nobody: it starts again what ended, passes signals on, and its end is theirs.
"""

import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Any

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.logs import log, to_stderr
from sottovoce.server.serve import serve
from sottovoce.server.store import is_shared, open_store

LOOK_SECONDS = 0.2
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0
"""Seconds before a process that ended is started again; twice as long each time, unless it ran longer than that."""


def check_workers(address: str, workers: int) -> None:
    """Refuse more than one process where only one can write."""
    if workers > 1 and not is_shared(address):
        raise ConfigurationError(
            f"--workers {workers} needs a store that several processes can write to: --store postgresql://…; only one "
            "process writes to a folder of SQLite, and `sottovoce store copy` moves what is in it"
        )


def serve_workers(address: str, ports: Sequence[int], rate: float, **options: Any) -> None:
    """Serve on each of these ports until told to stop. Each process allows its part of the rate."""
    to_stderr()
    open_store(address).close()  # what is wrong with it is said once
    options |= {"address": address, "rate": rate / len(ports)}
    supervise([(_serve, options | {"port": port}) for port in ports])


def _serve(**options: Any) -> None:
    to_stderr()
    try:
        serve(**options)
    except ConfigurationError as error:  # the database may be away
        log("cannot serve", logging.ERROR, error=str(error))
        sys.exit(1)


class Worker:
    """One process, as often as it is started."""

    def __init__(self, work: Callable[..., None], options: dict[str, Any]) -> None:
        self._work, self._options = work, options
        self._pause, self._due = FIRST_PAUSE, 0.0
        self.process = self._start()

    def _start(self) -> SpawnProcess:
        process = multiprocessing.get_context("spawn").Process(target=self._work, kwargs=self._options)
        process.start()
        self._since = time.monotonic()
        return process

    def look(self) -> None:
        """Start it again if it has ended, after a pause."""
        now = time.monotonic()
        if self.process.exitcode is None:
            return
        if not self._due:
            log("a web process ended; starting it again", logging.ERROR, status=self.process.exitcode)
            self._pause = FIRST_PAUSE if now - self._since > LONGEST_PAUSE else min(2 * self._pause, LONGEST_PAUSE)
            self._due = now + self._pause
        if now >= self._due:
            self.process, self._due = self._start(), 0.0


def supervise(works: Sequence[tuple[Callable[..., None], dict[str, Any]]]) -> None:
    """Run all of these until told to stop, and then until the last has ended."""
    heard: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: heard.append(number))
    workers = [Worker(*work) for work in works]
    while not {signal.SIGTERM, signal.SIGINT} & {*heard}:
        wait([worker.process.sentinel for worker in workers if worker.process.is_alive()], LOOK_SECONDS)
        for worker in workers:
            worker.look()
        while signal.SIGHUP in heard:
            heard.remove(signal.SIGHUP)
            _tell(workers, signal.SIGHUP)
    _tell(workers, signal.SIGTERM)
    for worker in workers:
        worker.process.join()
    log("all web processes have ended")


def _tell(workers: Sequence[Worker], number: int) -> None:
    for worker in workers:
        if worker.process.pid and worker.process.is_alive():
            os.kill(worker.process.pid, number)
