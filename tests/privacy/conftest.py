"""What the tests of the gate share: fixed seeds, and every mechanism with every domain that it takes."""

import pytest
from gates import GATES, Gate, SeededEntropy
from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")


@pytest.fixture
def entropy() -> SeededEntropy:
    """Randomness with a fixed seed."""
    return SeededEntropy(20200531)


@pytest.fixture(params=GATES, ids=str)
def gate(request: pytest.FixtureRequest) -> Gate:
    """One mechanism with one domain that it takes."""
    return request.param
