"""A sweep: shards, workers that die, and sweeps that go on give the bits of a run that nothing disturbed."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

from catalogue import ready
from sottovoce.lab.study.cells import CellResult, cells_of, run_cells
from sottovoce.lab.study.file import Study
from sottovoce.lab.study.results import made_with
from sottovoce.lab.sweep.lead import MOST_DEATHS, WorkersDied, sweep
from sottovoce.lab.sweep.local import LocalWorkers
from sottovoce.lab.sweep.messages import Died, Finished, Job, Kept, Message, Shard, Workers
from sottovoce.lab.sweep.shards import Shards, shards_of
from sottovoce.lab.sweep.work import packed, unpacked, work
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.run import Case, Grid, Run
from sottovoce.sim.trace import Trace

STUDY = Study(learner="tsallis-inf", preset="paper", arms=3, epsilon=[4.0], rounds=100, seeds=5)


class InThisProcess:
    """Workers without processes. `dies` says after how many messages the worker of each job dies; None: never."""

    def __init__(self, dies: Sequence[int | None] = ()) -> None:
        self.dies, self.started, self.running = deque(dies), [], []

    def room(self) -> bool:
        return not self.running

    def start(self, job: Job) -> None:
        self.started.append(job)
        self.running.append((job.shard, self._messages(job, self.dies.popleft() if self.dies else None)))

    def _messages(self, job: Job, most: int | None) -> Iterator[Message]:
        for number, message in enumerate(work(job)):
            if number == most:
                yield Died("killed")
                return
            yield message

    def hear(self) -> list[tuple[Shard, Message]]:
        shard, messages = self.running[0]
        message = next(messages)
        if isinstance(message, Died | Finished):
            self.running.pop()
        return [(shard, message)]

    def close(self) -> None: ...


def swept(
    folder: Path, workers: Workers, study: Study = STUDY, size: int = 2, progress: Callable[[int], None] | None = None
) -> list[CellResult]:
    cells = cells_of(study)
    shards = shards_of(study, len(cells), size)
    kept = Shards(folder, study, cells)
    return sweep(study, cells, shards, kept, workers, progress or (lambda rounds: None), keep_every=0.0)


def assert_same(results: Sequence[CellResult], others: Sequence[CellResult]) -> None:
    for one, other in zip(results, others, strict=True):
        assert one.cell.name == other.cell.name
        for name in ("rounds", "regret", "samples", "stopped"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
        assert (one.correct is None) == (other.correct is None)
        if one.correct is not None and other.correct is not None:
            np.testing.assert_array_equal(one.correct, other.correct, strict=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[CellResult]:
    return swept(tmp_path_factory.mktemp("undisturbed"), InThisProcess())


@pytest.mark.parametrize(
    ("name", "late"), [("tsallis-inf", {"delay": 3, "publish_every": 5}), ("linucb", {}), ("top-two", {})]
)
def test_a_run_that_goes_on_from_a_checkpoint_gives_the_same_bits(name: str, late: dict):
    """Also where seeds are shared among cores, where reports wait in a queue, and where a learner stops."""
    each = ready(name, rounds=60)
    case, run = Case(each.learner, each.mechanism), Run(rounds=60, seeds=4, checkpoints=6, **late)
    whole = Grid([case], each.user, each.world, run)
    whole.advance()
    left = unpacked(packed(whole.standing(), 0.0))[0]
    later = Grid([case], each.user, each.world, run, left=left)
    assert later.rounds == 10
    first, second = ended(whole), ended(later)
    np.testing.assert_array_equal(first.regret, second.regret, strict=True)
    np.testing.assert_array_equal(first.samples, second.samples, strict=True)


def ended(grid: Grid) -> Trace:
    while not grid.over:
        grid.advance()
    return grid.traces()[0]


def test_a_sweep_gives_the_bits_of_a_study_that_is_run_as_one(undisturbed: list[CellResult]):
    assert_same(undisturbed, list(run_cells(STUDY, cells_of(STUDY))))


def test_a_worker_that_dies_changes_nothing_and_its_shard_goes_on_where_it_was_kept(
    undisturbed: list[CellResult], tmp_path: Path
):
    workers, played = InThisProcess([3, None, 0, 50]), []
    assert_same(undisturbed, swept(tmp_path, workers, progress=played.append))
    first, again = workers.started[:2]
    assert (first.shard, first.left) == (again.shard, None)
    assert unpacked(again.left)[0].regrets.shape == (3, 1, 2)  # a checkpoint each round, kept each time
    assert sum(played) == 3 * STUDY.seeds * STUDY.rounds  # none is counted twice
    assert not list(tmp_path.rglob("*.npz"))


def test_a_sweep_that_was_interrupted_goes_on(undisturbed: list[CellResult], tmp_path: Path):
    class Interrupted(InThisProcess):
        def hear(self) -> list[tuple[Shard, Message]]:
            if len(self.started) == 3:
                raise KeyboardInterrupt
            return super().hear()

    with pytest.raises(KeyboardInterrupt):
        swept(tmp_path, Interrupted())
    workers = InThisProcess()
    assert_same(undisturbed, swept(tmp_path, workers))
    assert [job.shard for job in workers.started] == shards_of(STUDY, 3, 2)[2:]
    assert_same(undisturbed, swept(tmp_path, nobody := InThisProcess()))
    assert not nobody.started


def test_a_file_that_was_cut_short_is_not_taken_for_a_result(undisturbed: list[CellResult], tmp_path: Path):
    swept(tmp_path, InThisProcess())
    file = min(tmp_path.rglob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-9])
    assert_same(undisturbed, swept(tmp_path, workers := InThisProcess()))
    assert len(workers.started) == 1


def test_a_shard_that_kills_every_worker_is_given_up(tmp_path: Path):
    with pytest.raises(WorkersDied, match="5 workers died over seeds 0 to 1 of arms-chosen-epsilon-4"):
        swept(tmp_path, InThisProcess([0] * MOST_DEATHS))


def test_a_learner_that_recommends_keeps_what_was_right(tmp_path: Path):
    study = msgspec.structs.replace(STUDY, learner="top-two", preset="practical", arms=2, rounds=60, seeds=3)
    assert_same(swept(tmp_path, InThisProcess(), study), list(run_cells(study, cells_of(study))))
    assert_same(swept(tmp_path, InThisProcess(), study), list(run_cells(study, cells_of(study))))  # as read from files


def test_a_worker_with_other_code_refuses():
    other = made_with() | {"code": "another"}
    job = Job(msgspec.json.encode(STUDY), Shard(0, 0, 2), other, 0.0)
    with pytest.raises(ConfigurationError, match="install the same everywhere"):
        next(work(job))


def test_a_process_that_is_killed_in_the_middle_changes_nothing(undisturbed: list[CellResult], tmp_path: Path):
    """A real process and a real signal, as soon as the first standing is on the disk."""

    class Killing(LocalWorkers):
        killed = 0

        def hear(self) -> list[tuple[Shard, Message]]:
            heard = super().hear()
            if not self.killed and any(isinstance(message, Kept) for _, message in heard):
                (worker, _), *_ = self.busy.values()
                self.killed = worker.process.pid or 0
                os.kill(self.killed, signal.SIGKILL)
                worker.process.join()
            return heard

    with closing(Killing(1)) as workers:
        results = swept(tmp_path, workers)
    assert workers.killed
    assert_same(undisturbed, results)


def test_the_error_of_a_worker_is_raised_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sottovoce.lab.sweep.lead.made_with", lambda: {"code": "another"})
    with closing(LocalWorkers(1)) as workers, pytest.raises(ConfigurationError, match="install the same everywhere"):
        swept(tmp_path, workers)
