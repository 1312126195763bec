"""Workers that are processes of this machine, one core each. Started afresh, so that each has its own threads of XLA.

Each has a pipe of its own: a process that is killed in the middle of a word disturbs nobody else, and its end is heard
as the end of its pipe. A pool of the standard library would be broken as a whole.
"""

import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from sottovoce.lab.sweep.messages import SETTINGS, Died, Finished, Job, Message, Shard
from sottovoce.protocol.errors import ConfigurationError, SottovoceError


class Worker(NamedTuple):
    """A process, and the pipe to it."""

    process: BaseProcess
    pipe: Connection


class LocalWorkers:
    """As many processes as asked for, or as there are cores."""

    def __init__(self, count: int | None = None) -> None:
        self.count = count or len(os.sched_getaffinity(0))
        self.free: list[Worker] = []
        self.busy: dict[Connection, tuple[Worker, Shard]] = {}

    def room(self) -> bool:
        return len(self.busy) < self.count

    def start(self, job: Job) -> None:
        worker = self.free.pop() if self.free else _started()
        self.busy[worker.pipe] = worker, job.shard
        try:
            worker.pipe.send(job)
        except OSError:  # it died while it had nothing to do; `hear` finds the end of its pipe
            return

    def hear(self) -> list[tuple[Shard, Message]]:
        ready = [pipe for pipe in connection.wait(list(self.busy)) if isinstance(pipe, Connection)]
        return [self._hear(pipe) for pipe in ready]

    def _hear(self, pipe: Connection) -> tuple[Shard, Message]:
        worker, shard = self.busy[pipe]
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            del self.busy[pipe]
            worker.process.join()
            pipe.close()
            return shard, Died(f"process {worker.process.pid} ended with code {worker.process.exitcode}")
        if isinstance(message, BaseException):
            raise message
        if isinstance(message, Finished):
            del self.busy[pipe]
            self.free.append(worker)
        return shard, message

    def close(self) -> None:
        """Workers that have nothing to do end when their pipe does; the others are told to."""
        for worker in [*self.free, *(worker for worker, _ in self.busy.values())]:
            worker.pipe.close()
            worker.process.terminate()
            worker.process.join()


def _started() -> Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    with _environment():
        process.start()
    theirs.close()
    return Worker(process, ours)


@contextmanager
def _environment() -> Iterator[None]:
    """A child takes the environment of its parent when it starts, before it has imported anything."""
    before = dict(os.environ)
    os.environ.update(SETTINGS)
    try:
        yield
    finally:
        for name in SETTINGS:
            del os.environ[name]
        os.environ.update(before)


def _serve(pipe: Connection) -> None:
    """All that such a process does: jobs in, messages out, until the pipe ends."""
    try:
        while True:
            job = pipe.recv()
            try:
                from sottovoce.lab.sweep.work import work

                for message in work(job):
                    pipe.send(message)
            except SottovoceError as error:
                pipe.send(ConfigurationError(str(error)))  # not every error of ours survives the way through a pipe
            except Exception:
                pipe.send(RuntimeError(f"a worker failed over {job.shard}:\n{traceback.format_exc()}"))
    except (EOFError, OSError, KeyboardInterrupt):
        return
