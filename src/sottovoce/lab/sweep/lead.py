"""Lead a sweep: hand shards to workers, keep what they say, start again what a dead worker left."""

from collections import Counter, deque
from collections.abc import Callable, Sequence

import msgspec

from sottovoce.lab.study.cells import Cell, CellResult
from sottovoce.lab.study.file import Study
from sottovoce.lab.study.results import made_with
from sottovoce.lab.sweep.messages import Died, Finished, Job, Kept, Message, Shard, Workers
from sottovoce.lab.sweep.shards import Shards, joined
from sottovoce.protocol.errors import SottovoceError

KEEP_EVERY = 10.0
"""Seconds: so much work is lost when a worker dies, and the rounds until the next checkpoint."""
MOST_DEATHS = 5
"""A shard whose workers died so often is given up: it is too large for their memory, perhaps."""


class WorkersDied(SottovoceError):
    """A shard cannot be finished."""


def sweep(
    study: Study,
    cells: Sequence[Cell],
    shards: Sequence[Shard],
    kept: Shards,
    workers: Workers,
    progress: Callable[[int], None],
    keep_every: float = KEEP_EVERY,
) -> list[CellResult]:
    """Run every shard that is not kept, and return the curves in the order of the cells.

    `progress` is called with the number of rounds times seeds just played, those of kept shards included.
    """
    found = {shard: outcome for shard in shards if (outcome := kept.load(shard)) is not None}
    lead = _Lead(study, kept, workers, progress, keep_every)
    progress(study.rounds * sum(shard.seeds for shard in found))
    lead.run([shard for shard in shards if shard not in found])
    parts: list[list[Shard]] = [[shard for shard in shards if shard.cell == place] for place in range(len(cells))]
    every = found | lead.finished
    return [joined(cell, [every[shard] for shard in part]) for cell, part in zip(cells, parts, strict=True)]


class _Lead:
    def __init__(
        self, study: Study, kept: Shards, workers: Workers, progress: Callable[[int], None], keep_every: float
    ) -> None:
        self.study, self.kept, self.workers, self.progress, self.keep_every = study, kept, workers, progress, keep_every
        self.text, self.made_with = msgspec.json.encode(study), made_with()
        self.played: Counter[Shard] = Counter()
        self.deaths: Counter[Shard] = Counter()
        self.finished = {}

    def run(self, shards: Sequence[Shard]) -> None:
        self.waiting = deque(shards)
        while len(self.finished) < len(shards):
            self._hand_out()
            for shard, message in self.workers.hear():
                self._hear(shard, message)

    def _hand_out(self) -> None:
        while self.waiting and self.workers.room():
            shard = self.waiting.popleft()
            left = self.kept.left(shard)
            self.workers.start(Job(self.text, shard, self.made_with, self.keep_every, left))

    def _hear(self, shard: Shard, message: Message) -> None:
        if isinstance(message, Died):
            self.deaths[shard] += 1
            if self.deaths[shard] == MOST_DEATHS:
                who = f"seeds {shard.first} to {shard.first + shard.seeds - 1} of {self.kept.cells[shard.cell].name}"
                raise WorkersDied(f"{MOST_DEATHS} workers died over {who}; the last: {message.reason}")
            self.waiting.appendleft(shard)
        elif isinstance(message, Finished):
            self._hand_out()  # before anything is written: a worker that waits is a core that waits
            self.kept.save(shard, message.outcome)
            self.finished[shard] = message.outcome
            self._advance(shard, self.study.rounds)
        else:
            if isinstance(message, Kept):
                self.kept.keep(shard, message.standing)
            self._advance(shard, message.rounds)

    def _advance(self, shard: Shard, rounds: int) -> None:
        """Rounds that are played again after a death are not counted again."""
        if (more := rounds - self.played[shard]) > 0:
            self.progress(more * shard.seeds)
            self.played[shard] = rounds
