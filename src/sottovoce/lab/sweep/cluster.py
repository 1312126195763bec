"""Workers of a Ray cluster, or of a Ray that is started on this machine. Each task takes one CPU.

No disk is shared: what a worker says comes back as the stream of its task, and the one who leads keeps it. Ray itself
repeats nothing, because it would begin a shard anew: a shard whose worker died goes on from what was kept of it.
"""

import os
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from sottovoce.lab.sweep.messages import SETTINGS, Died, Finished, Job, Message, Shard

HERE = "ray"
"""The address of a Ray that is started for the sweep, on this machine."""


class RayWorkers:
    """The CPUs of a cluster. With the address `ray` one is started here and stopped in the end."""

    def __init__(self, address: str, count: int | None = None) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # Ray tells its authors nothing
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # a warning about GPUs, which are not used
        ray = import_module("ray")  # by name: nothing else here needs it to be installed
        self.ray, self.most = ray, count if address != HERE else None
        own: dict[str, Any] = {"address": "local", "num_cpus": count, "include_dashboard": False}
        where = own if address == HERE else {"address": address}
        settings = SETTINGS | {name: os.environ[name] for name in _TOLD if name in os.environ and address == HERE}
        ray.init(**where, log_to_driver=False, logging_level="ERROR", runtime_env={"env_vars": settings})
        self.task = ray.remote(num_cpus=1, max_retries=0, num_returns="streaming")(_work)
        self.running: dict[Any, Shard] = {}

    def room(self) -> bool:
        """One more than there are CPUs, so that none waits for the next shard; on a cluster no more than asked."""
        most = int(self.ray.cluster_resources().get("CPU", 1)) + 1
        return len(self.running) < min(most, self.most or most)

    def start(self, job: Job) -> None:
        self.running[self.task.remote(job)] = job.shard

    def hear(self) -> list[tuple[Shard, Message]]:
        ready, _ = self.ray.wait(list(self.running), num_returns=1)
        return [self._hear(stream) for stream in ready]

    def _hear(self, stream: Any) -> tuple[Shard, Message]:
        errors = self.ray.exceptions
        shard = self.running[stream]
        try:
            message = self.ray.get(next(stream))
        except errors.RayTaskError as error:  # the work itself failed, as it would everywhere
            raise error.cause from error
        except (errors.RayError, StopIteration) as error:
            del self.running[stream]
            return shard, Died(f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}")
        if isinstance(message, Finished):
            del self.running[stream]
        return shard, message

    def close(self) -> None:
        for stream in self.running:
            self.ray.cancel(stream, force=True)
        self.ray.shutdown()


_TOLD = ("JAX_COMPILATION_CACHE_DIR", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "PYTHONPATH", "XLA_FLAGS")
"""Of the environment here, for workers on this machine."""


def _work(job: Job) -> Iterator[Message]:
    """One task; the import is where JAX starts, with the settings of a worker."""
    from sottovoce.lab.sweep.work import work

    yield from work(job)
