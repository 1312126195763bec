"""The example site in Chromium: it learns from simulated readers as the simulator says it should."""

import json
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from node import ROOT, run_node
from sottovoce.catalogue.task_file import HoldoutShare, TaskFile
from sottovoce.fleet.people import Crowd, band_of

ASKED = {"lead", "stories", "contract", "model", "offers", "permits", "reports"}
"""The last parts of the paths that readers ask the learning server for; the first two are the status of a task."""
RUNS = 1000
"""Simulated runs: the newsroom's regret must be among theirs."""
sys.path.insert(0, str(ROOT / "examples" / "newsroom"))
from run import newsroom  # noqa: E402


class Readers:
    """The readers of one task: what they would open, and what each choice would lose."""

    def __init__(self, contract, number: int, seed: int) -> None:
        crowd = Crowd(contract, seed=seed, size=number)
        self.fields, contexts = crowd.come(0)
        seen = [crowd.happen(0, contexts, np.full(number, action)) for action in range(contract.offers.arms)]
        outcomes, self.losses = (np.stack([one[part] for one in seen], axis=1) for part in (0, 1))
        self.opens = contract.reward.from_unit(outcomes) > 0.5
        self.uniform = seen[0][2].sum()
        self.band = band_of(contract, crowd.world, number, seeds=RUNS, central=1.0)

    def regret(self, actions: list[int]) -> float:
        return self.losses[np.arange(len(actions)), actions].sum()


@pytest.mark.parametrize("number", [24, pytest.param(300, marks=pytest.mark.soak)])
def test_the_newsroom_learns_as_the_simulator_says_and_sends_nothing_else(number: int):
    """The randomness of devices and server is real: one run of the test in 250 fails by chance alone."""

    def small(task: TaskFile) -> TaskFile:
        return msgspec.structs.replace(task, horizon=number, publish_every=5)

    with newsroom(0, small) as (page, remote):
        lead, stories = (Readers(remote.contract(task), number, seed) for task, seed in (("lead", 2), ("stories", 1)))
        names = remote.contract("lead").offers.actions
        for readers in (lead, stories):
            assert 0.2 < readers.opens.mean() < 0.8  # some open what others do not
        found = simulated(page, [visit(names, lead, stories, reader) for reader in range(number)])
        assert [remote.summary(task).reports for task in ("lead", "stories")] == [number, number]
    assert [problem for visit in found for problem in visit["problems"]] == []
    assert {request.rpartition("/")[2] for visit in found for request in visit["requests"]} == ASKED
    assert len({tuple(sorted(visit["reports"])) for visit in found}) == 1  # a length for each task, whatever was opened
    headlines, shown = [names.index(visit["headline"]) for visit in found], [visit["story"] for visit in found]
    for readers, regret in ((lead, lead.regret(headlines)), (stories, stories.regret(shown))):
        low, mean, high = (part[-1] for part in readers.band[1:])
        print(f"lost {regret:.1f}; simulated {mean:.1f}, {low:.1f} to {high:.1f}; at random {readers.uniform:.1f}")
        assert readers.band.holds(regret), (regret, readers.band)


def test_an_owner_may_change_the_learner_and_hold_out_and_the_page_still_opens_offline(tmp_path: Path):
    """The device then loads parts from beside its file: the newsroom serves them, and its worker keeps them."""

    def changed(task: TaskFile) -> TaskFile:
        if task.id == "lead":
            return msgspec.structs.replace(task, holdout=HoldoutShare(share=0.1, baseline="plain"))
        return msgspec.structs.replace(task, learner="gradient", holdout=HoldoutShare(share=0.1))

    def seen() -> dict:
        return json.loads(run_node(Path(__file__).with_name("newsroom_reader.mjs"), page, tmp_path))

    everything = {"joined": ["lead", "stories"], "answers": [200] * 5}
    with newsroom(0, changed) as (page, _):
        assert seen() == everything
    assert seen() == everything  # the page and the learning server are gone


def visit(names: tuple[str, ...], lead: Readers, stories: Readers, reader: int) -> dict:
    """What one reader finds, and would open."""
    headlines = dict(zip(names, lead.opens[reader].tolist(), strict=True))
    return {"stories": stories.fields[reader], "opens": {"lead": headlines, "stories": stories.opens[reader].tolist()}}


def simulated(page: str, visits: list[dict]) -> list[dict]:
    question = json.dumps({"page": page, "visits": visits})
    return json.loads(run_node(Path(__file__).with_name("newsroom.mjs"), given=question, seconds=400))
