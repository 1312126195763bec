"""A sweep on a real Ray: the bits of this machine's processes, also when a worker of Ray is killed in the middle."""

import os
import signal
from contextlib import closing
from pathlib import Path

import numpy as np
import psutil
import pytest

from sottovoce.lab.study.cells import CellResult, cells_of
from sottovoce.lab.study.file import Study
from sottovoce.lab.sweep.cluster import HERE, RayWorkers
from sottovoce.lab.sweep.lead import sweep
from sottovoce.lab.sweep.local import LocalWorkers
from sottovoce.lab.sweep.messages import Died, Kept, Message, Shard, Workers
from sottovoce.lab.sweep.shards import Shards, shards_of

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore")]  # Ray's own warnings are not ours to mend
STUDY = Study(learner="tsallis-inf", preset="paper", arms=10, epsilon=[1.0, 4.0], rounds=20_000, seeds=24)


def swept(folder: Path, workers: Workers) -> list[CellResult]:
    cells = cells_of(STUDY)
    kept = Shards(folder, STUDY, cells)
    return sweep(STUDY, cells, shards_of(STUDY, len(cells), 8), kept, workers, lambda rounds: None, keep_every=0.0)


class Killing(RayWorkers):
    """Kills the process of one running task, when the first standing has come."""

    def __init__(self) -> None:
        super().__init__(HERE, 2)
        self.killed, self.died = 0, 0

    def hear(self) -> list[tuple[Shard, Message]]:
        heard = super().hear()
        self.died += sum(isinstance(message, Died) for _, message in heard)
        if not self.killed and any(isinstance(message, Kept) for _, message in heard):
            below = psutil.Process().children(recursive=True)
            self.killed = next(one.pid for one in below if " ".join(one.cmdline()).startswith("ray::_work"))
            os.kill(self.killed, signal.SIGKILL)
        return heard


def test_a_worker_of_ray_that_is_killed_in_the_middle_changes_nothing(tmp_path: Path):
    for name in ("local", "ray"):
        (tmp_path / name).mkdir()
    with closing(LocalWorkers(2)) as workers:
        here = swept(tmp_path / "local", workers)
    with closing(Killing()) as workers:
        there = swept(tmp_path / "ray", workers)
    assert workers.killed
    assert workers.died == 1
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one.regret, other.regret, strict=True)
        np.testing.assert_array_equal(one.samples, other.samples, strict=True)


def test_an_error_of_the_work_is_raised_and_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sottovoce.lab.sweep.lead.made_with", lambda: {"code": "another"})
    with closing(RayWorkers(HERE, 1)) as workers, pytest.raises(Exception, match="install the same everywhere"):
        swept(tmp_path, workers)
