"""One rule says when a model is published, for a whole run at once and report by report."""

import numpy as np
import pytest

from sottovoce.engine.schedule import Schedule


@pytest.mark.parametrize("every", [1, 2, 3, 7, 40, 500])
@pytest.mark.parametrize("growth", [0.5, 1.0, 1.001, 1.01, 1.1, 4 / 3, 2.0, 10.0])
def test_a_whole_run_and_report_by_report_give_the_same_publications(every: int, growth: float):
    schedule, last, one_by_one = Schedule(every, growth), 0, []
    for count in range(1, 3001):
        if schedule.due(count, last):
            one_by_one.append(count)
            last = count
    assert (schedule.marks(3000).nonzero()[0] + 1).tolist() == one_by_one


def test_publication_is_rare_and_regular():
    assert Schedule(3).marks(10).nonzero()[0].tolist() == [2, 5, 8]
    assert Schedule(1, 1.01).marks(2000).sum() == 361
    lazy = Schedule(1, 1.01).marks(100_000)
    assert lazy[:50].all()
    assert 600 < lazy.sum() < 1000
    both = Schedule(500, 1.01).marks(100_000).nonzero()[0] + 1
    assert np.all(both % 500 == 0)
    assert np.all(np.diff(both) >= 500)
