"""The published run on MovieLens to its end, for `make soak`. The ratings come with the package recbole."""

import pytest

from sottovoce.lab.movielens.replay import HORIZON, PRINTED_REGRET, replay
from sottovoce.sim.worlds.movielens import movielens_of

pytestmark = pytest.mark.soak


def test_the_published_run_ends_where_the_authors_say():
    """Their random numbers, their data: the digits they print after a million rounds."""
    world = movielens_of(dimension=20, arms=20, path="")
    regret = replay(world.features, world.theta, HORIZON).regret[-1]
    assert round(float(regret), 1) == PRINTED_REGRET
