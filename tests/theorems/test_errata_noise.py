"""Entries of docs/errata.md about noise: the Gaussian formula, one number, Laplace noise "in parallel".

Deterministic. Symbols are the paper's.
"""

import pytest
from scipy import optimize

from sottovoce import Budget, Interval, Moments, calibrate, noise_of
from sottovoce.privacy.grid.calibrate import classical_gaussian, gaussian
from sottovoce.privacy.grid.delta import gaussian_delta, gaussian_scale
from sottovoce.privacy.mechanisms import verify
from sottovoce.protocol.errors import BrokenPromise

DELTA = 1e-5


@pytest.mark.parametrize(("delta", "limit"), [(0.1, 5.72), (1e-3, 7.48), (1e-5, 8.40), (1e-6, 8.77), (1e-8, 9.38)])
def test_the_classical_gaussian_formula_fails_for_large_epsilon(delta: float, limit: float):
    def true_delta(epsilon: float) -> float:
        return gaussian_delta(epsilon, 1 / classical_gaussian(Budget(epsilon, delta)))

    first_failure = optimize.brentq(lambda epsilon: true_delta(epsilon) - delta, 3.0, 15.0)
    assert first_failure == pytest.approx(limit, abs=0.06)
    assert true_delta(0.9) < delta / 2  # where it is proved it wastes noise
    if delta == DELTA:
        assert true_delta(20.0) / delta == pytest.approx(153, rel=0.01)
        assert true_delta(100.0) == pytest.approx(1.0, abs=1e-6)
        with pytest.raises(BrokenPromise):
            verify(gaussian(Interval(), Budget(9.0, delta), "classical"))


@pytest.mark.parametrize(("epsilon", "excess"), [(0.1, 1.58), (0.5, 1.38), (1.0, 1.30), (2.0, 1.21)])
def test_the_classical_gaussian_formula_wastes_noise_for_small_epsilon(epsilon: float, excess: float):
    assert classical_gaussian(Budget(epsilon, DELTA)) / gaussian_scale(epsilon, DELTA) == pytest.approx(excess, 0.01)


@pytest.mark.parametrize(("epsilon", "times_levels", "times_laplace"), [(0.1, 23, 11), (0.5, 22, 11), (1.0, 20, 11)])
def test_gaussian_noise_on_one_number_is_larger_than_pure_noise(
    epsilon: float, times_levels: float, times_laplace: float
):
    domain = Interval(-1.0, 1.0)
    paper = noise_of(gaussian(domain, Budget(epsilon, DELTA), "classical")).variance
    assert paper / noise_of(calibrate("levels", domain, Budget(epsilon))).variance > times_levels
    assert paper / noise_of(calibrate("laplace", domain, Budget(epsilon))).variance > times_laplace


def test_laplace_noise_costs_a_contextual_learner_a_factor_of_the_dimension():
    """The L1 distance of two matrices x x' grows like d, and the deviation of every entry with it."""

    def deviation(name: str, dimension: int) -> float:
        return noise_of(calibrate(name, Moments(dimension), Budget(1.0))).per_block[0]

    assert deviation("laplace", 5) == pytest.approx(13, rel=0.05)
    assert deviation("laplace", 40) == pytest.approx(59, rel=0.05)
    assert [deviation("sphere", d) for d in (5, 40)] == pytest.approx([3.8, 3.8], rel=0.02)
    assert deviation("laplace", 20) / deviation("sphere", 20) > 8.5
