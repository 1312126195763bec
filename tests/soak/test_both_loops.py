"""Every learner in every preset, in both loops, for `make soak`; on a GPU `make gpu` compares them too."""

import jax
import pytest

from agreement import Played, agreement_of
from catalogue import PRESETS, ready
from sottovoce.sim import batch
from sottovoce.sim.lanes import advance, evaluate
from sottovoce.sim.run import simulate

pytestmark = pytest.mark.soak
NEVER = {"no rule for eigh"}
"""Why some are not played in lanes whatever their size."""


def played(name: str, preset: str) -> Played:
    each = ready(name, preset)
    trace = simulate(each.learner, each.user, each.world, mechanism=each.mechanism, rounds=100, seeds=64, checkpoints=1)
    return Played(trace.regret, trace.samples)


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_both_loops_play_the_same(name: str, preset: str, monkeypatch: pytest.MonkeyPatch):
    """Or one of them says why not. One false alarm in a million runs of all of them."""
    usual, told = played(name, preset), []

    def loop(part: batch._Part) -> object:
        told.append(advance.refusal(*part._arguments()))
        return batch.advance_all if told[-1] else advance.advance_all

    monkeypatch.setattr(advance, "FEWEST", 1)
    monkeypatch.setattr(evaluate, "MOST", 25_000)
    advance._refusal.cache_clear()
    monkeypatch.setattr(batch._Part, "loop", loop)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")  # one part, not one for each core
    found = agreement_of(played(name, preset), usual, len(PRESETS))
    assert told[0] in NEVER | {"", "more than 25,000 instructions in a round"}
    assert found.holds, found
