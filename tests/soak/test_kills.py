"""Twenty kills under load, for `make soak`."""

from pathlib import Path

import pytest

from loading import kill_under_load

pytestmark = pytest.mark.soak


def test_twenty_kills_under_load_lose_nothing(tmp_path: Path):
    acknowledged, retried = kill_under_load(tmp_path / "data", kills=20, longest=3.0)
    assert acknowledged > 1000
    assert retried > 0
