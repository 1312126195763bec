"""A full disk for ten seconds, three times, for `make soak`."""

from pathlib import Path

import pytest

from loading import fill_under_load

pytestmark = pytest.mark.soak


def test_three_full_disks_under_load_lose_nothing(tmp_path: Path):
    acknowledged, retried = fill_under_load(tmp_path / "data", rounds=3, seconds=10.0)
    assert acknowledged > 1000
    assert retried > 0
