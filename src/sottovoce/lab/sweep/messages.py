"""What the one who leads a sweep and its workers say to each other. Imports nothing that starts threads."""

from typing import Any, NamedTuple, Protocol

SETTINGS = {
    "SOTTOVOCE_ONE_CORE": "1",
    "PJRT_NPROC": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "JAX_CPU_ENABLE_ASYNC_DISPATCH": "0",
}
"""The environment of a worker: one thread of XLA, one of everything else, the same kind of device everywhere.

Without asynchronous dispatch the thread that asks for a chunk computes it too; no core idles while one wakes another.
"""


class Shard(NamedTuple):
    """Some seeds of one cell."""

    cell: int
    """The place of the cell in the study."""
    first: int
    seeds: int


class Job(NamedTuple):
    """A shard, and all that a worker needs to know of it."""

    study: bytes
    """As JSON."""
    shard: Shard
    made_with: dict[str, Any]
    """Versions and code of the one who leads; a worker with others refuses."""
    keep_every: float
    """Seconds between two messages `Kept`."""
    left: bytes | None = None
    """What was last `Kept` of this shard."""


class Played(NamedTuple):
    """So many rounds of the shard."""

    rounds: int


class Kept(NamedTuple):
    """The same, and how the shard stands there: enough for any worker to go on."""

    rounds: int
    standing: bytes


class Finished(NamedTuple):
    """The last word about a shard."""

    outcome: Any


class Died(NamedTuple):
    """The worker is gone, and what it did since `Kept` is lost."""

    reason: str


Message = Played | Kept | Finished | Died


class Workers(Protocol):
    """Who does the work: processes of this machine, or a Ray cluster."""

    def room(self) -> bool:
        """May another job be started now?"""
        ...

    def start(self, job: Job) -> None: ...

    def hear(self) -> list[tuple[Shard, Message]]:
        """Wait until something was said. An error of a worker is raised here."""
        ...

    def close(self) -> None: ...
