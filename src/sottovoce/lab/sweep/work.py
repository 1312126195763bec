"""What a worker does: it plays one shard from checkpoint to checkpoint and says how far it is."""

import functools
import io
import time
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sottovoce.lab.study.cells import Cell, case_of, cells_of, refuse_infinite
from sottovoce.lab.study.file import Study
from sottovoce.lab.study.results import made_with
from sottovoce.lab.sweep.messages import Finished, Job, Kept, Played, Shard
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.batch import Standing
from sottovoce.sim.halves import halves
from sottovoce.sim.run import Grid, Run

SAY_EVERY = 0.2
"""Seconds between two messages, for the progress bar."""


class Outcome(NamedTuple):
    """What a shard gave: the fields of a `CellResult`, for some of its seeds."""

    rounds: NDArray[np.int64]
    regret: NDArray[np.float64]
    seconds: float
    samples: NDArray[np.float64]
    stopped: NDArray[np.bool_]
    correct: NDArray[np.bool_] | None


def work(job: Job) -> Iterator[Played | Kept | Finished]:
    """Play a shard, from the beginning or from where it was left. The same bits in both cases.

    Between two checkpoints a loop depends on nothing but its carry, the seeds' keys and the numbers of the round; all
    checkpoints of a study are at the same rounds, so the loop that goes on is the same compiled program.
    """
    if job.made_with != made_with():
        raise ConfigurationError(
            f"this worker has {made_with()}, the sweep was started with {job.made_with}: install the same everywhere"
        )
    study, cells = _study(job.study)
    cell, (left, before) = cells[job.shard.cell], unpacked(job.left) if job.left else (None, 0.0)
    start = kept = said = time.monotonic()
    grid = grid_of(study, cell, job.shard, left)
    while not grid.over:
        grid.advance()
        now = time.monotonic()
        if now - kept >= job.keep_every:
            kept = said = now
            yield Kept(grid.rounds, packed(grid.standing(), before + now - start))
        elif now - said >= SAY_EVERY:
            said = now
            yield Played(grid.rounds)
    (trace,) = grid.traces()
    refuse_infinite(cell, trace)
    seconds = before + time.monotonic() - start
    yield Finished(Outcome(trace.rounds, trace.regret, seconds, trace.samples, trace.stopped, trace.correct))


@functools.lru_cache(maxsize=4)
def _study(text: bytes) -> tuple[Study, list[Cell]]:
    """Built once in a process: equal learners and worlds find their compiled loop."""
    study = msgspec.json.decode(text, type=Study)
    return study, cells_of(study)


def grid_of(study: Study, cell: Cell, shard: Shard, left: Standing | None) -> Grid:
    """One cell, some seeds."""
    run = Run(
        rounds=study.rounds,
        seeds=shard.seeds,
        seed=study.seed,
        first=shard.first,
        publish_every=study.publish_every,
        delay=study.delay,
    )
    return Grid([case_of(cell)], halves(cell.task).user, cell.world, run, left=left)


def packed(standing: Standing, seconds: float) -> bytes:
    """A standing as bytes; every number keeps all its bits.

    >>> standing = Standing(np.array([[[0.1]]]), [np.array([1, 2])])
    >>> unpacked(packed(standing, 2.0))
    (Standing(regrets=array([[[0.1]]]), carry=[array([1, 2])]), 2.0)
    """
    file = io.BytesIO()
    np.savez(file, *standing.carry, regrets=standing.regrets, seconds=seconds)
    return file.getvalue()


def unpacked(text: bytes) -> tuple[Standing, float]:
    """The inverse of `packed`."""
    with np.load(io.BytesIO(text)) as stored:
        carry = [stored[f"arr_{place}"] for place in range(len(stored.files) - 2)]
        return Standing(stored["regrets"], carry), float(stored["seconds"])
