"""The shards of a study, and the folder in which they are kept: finished ones as Parquet, the others as they stand."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from sottovoce.lab.study.cells import Cell, CellResult
from sottovoce.lab.study.file import Study
from sottovoce.lab.study.results import manifest_of
from sottovoce.lab.sweep.messages import Shard
from sottovoce.lab.sweep.work import Outcome


def shards_of(study: Study, cells: int, size: int) -> list[Shard]:
    """Every seed of every cell once, at most so many seeds to a shard.

    How many workers there are plays no part: the seeds of a shard are one batch, and a batch of another size may round
    differently in the last bit.

    >>> shards_of(Study(learner="ucb", epsilon=[1.0], rounds=10, seeds=5), cells=1, size=3)
    [Shard(cell=0, first=0, seeds=3), Shard(cell=0, first=3, seeds=2)]
    """
    starts = range(0, study.seeds, size)
    return [Shard(cell, first, min(size, study.seeds - first)) for cell in range(cells) for first in starts]


class Shards:
    """`shards/` in a folder of results. A file's name has a digest of the study, its cell, the seeds and the code."""

    def __init__(self, folder: Path, study: Study, cells: Sequence[Cell]) -> None:
        self.path, self.cells, self.manifest = folder / "shards", cells, msgspec.json.encode(manifest_of(study))
        self.path.mkdir(exist_ok=True)

    def load(self, shard: Shard) -> Outcome | None:
        """What a finished shard gave; None for one that is not."""
        import pyarrow
        import pyarrow.parquet

        try:
            table = pyarrow.parquet.read_table(self._file(shard, "parquet"))
            notes = json.loads(table.schema.metadata[b"sottovoce"])
        except (OSError, pyarrow.ArrowInvalid):
            return None
        column = {name: table[name].to_pylist() for name in table.column_names}
        correct = None if None in column["correct"] else np.array(column["correct"], bool)
        regret, samples = np.array(column["regret"], float), np.array(column["samples"], float)
        rounds, stopped = np.array(notes["rounds"], np.int64), np.array(column["stopped"], bool)
        return Outcome(rounds, regret, notes["seconds"], samples, stopped, correct)

    def save(self, shard: Shard, outcome: Outcome) -> None:
        """A row for each seed; written whole or not at all. How the shard stood before is of no use any more."""
        import pyarrow
        import pyarrow.parquet

        count = len(outcome.samples)
        columns = {
            "seed": pyarrow.array(shard.first + np.arange(count), pyarrow.int64()),
            "samples": pyarrow.array(outcome.samples, pyarrow.float64()),
            "stopped": pyarrow.array(outcome.stopped, pyarrow.bool_()),
            "correct": pyarrow.array([None] * count if outcome.correct is None else outcome.correct, pyarrow.bool_()),
            "regret": pyarrow.array(list(outcome.regret), pyarrow.list_(pyarrow.float64())),
        }
        notes = {"cell": self.cells[shard.cell].name, "rounds": outcome.rounds.tolist(), "seconds": outcome.seconds}
        table = pyarrow.table(columns, metadata={"sottovoce": json.dumps(notes)})
        target = self._file(shard, "parquet")
        pyarrow.parquet.write_table(table, target.with_suffix(".partial"))
        target.with_suffix(".partial").replace(target)
        self._file(shard, "npz").unlink(missing_ok=True)

    def left(self, shard: Shard) -> bytes | None:
        """How an unfinished shard stood when that was last kept."""
        try:
            return self._file(shard, "npz").read_bytes()
        except OSError:
            return None

    def keep(self, shard: Shard, standing: bytes) -> None:
        """Written whole or not at all."""
        target = self._file(shard, "npz")
        target.with_suffix(".partial").write_bytes(standing)
        target.with_suffix(".partial").replace(target)

    def forget(self) -> None:
        """Remove every file."""
        for file in self.path.iterdir():
            file.unlink()

    def _file(self, shard: Shard, kind: str) -> Path:
        digest = hashlib.sha256(self.manifest + repr(tuple(shard)).encode()).hexdigest()[:8]
        name = self.cells[shard.cell].name
        return self.path / f"{name}-seeds-{shard.first}-{shard.first + shard.seeds - 1}-{digest}.{kind}"


def joined(cell: Cell, outcomes: Sequence[Outcome]) -> CellResult:
    """The curve of a cell, from those of its seeds in their order."""
    corrects = [outcome.correct for outcome in outcomes if outcome.correct is not None]
    regret, samples, stopped = (
        np.concatenate([getattr(outcome, name) for outcome in outcomes]) for name in ("regret", "samples", "stopped")
    )
    correct, seconds = np.concatenate(corrects) if corrects else None, sum(outcome.seconds for outcome in outcomes)
    return CellResult(cell, outcomes[0].rounds, regret, seconds, samples, stopped, correct)
