"""Fixtures that run a test over the whole registry."""

import pytest

from catalogue import PRESETS, Ready, ready


@pytest.fixture(params=PRESETS, ids=lambda pair: "-".join(pair))
def each(request: pytest.FixtureRequest) -> Ready:
    """Every learner in every preset."""
    return ready(*request.param)
