"""Long statistics, for `make soak`: what the quick tests check, with many more draws."""

import numpy as np
import pytest

from sottovoce import Ball, Budget, Interval, Moments, calibrate, privatise, simulate
from sottovoce.privacy.mechanisms import Mechanism

pytestmark = pytest.mark.soak

X = np.array([0.6, -0.3, 0.5])
TRIALS = 200_000

CASES = [
    (calibrate("levels", Interval(), Budget(4.0)), Interval().embed(0.3)),
    (calibrate("sphere", Ball(3), Budget(1.0)), Ball(3).embed(X)),
    (calibrate("sphere", Moments(3), Budget(4.0)), Moments(3).embed(X, -0.7)),
    (calibrate("laplace", Interval(), Budget(1.0)), Interval().embed(0.9)),
    (calibrate("gaussian", Interval(), Budget(1.0, 1e-5)), Interval().embed(0.1)),
]


@pytest.mark.parametrize(("mechanism", "message"), CASES)
def test_exact_reports_are_right_on_average(mechanism: Mechanism, message: np.ndarray):
    """False-alarm rate 1e-6 a coordinate (4.9 deviations), and room for the codebook's stated bias of 0.2 %."""
    estimates = mechanism.decode([privatise(mechanism, message) for _ in range(TRIALS)])
    error = np.abs(estimates.mean(axis=0) - message)
    bias = 0.002 * np.linalg.norm(message) if type(mechanism).__name__ == "Sphere" else 0.0
    assert np.all(error <= 4.9 * estimates.std(axis=0) / np.sqrt(TRIALS) + bias)


@pytest.mark.parametrize("name", ["tsallis-inf", "kl-ucb", "thompson", "linucb"])
def test_regret_stays_sublinear_over_a_long_horizon(name: str):
    """Half a million rounds at epsilon 1: the second half adds less than 40 % to the regret of the first."""
    from catalogue import ready

    each = ready(name, epsilon=1.0, rounds=500_000, arms=10)
    trace = simulate(each.learner, each.user, each.world, rounds=500_000, mechanism=each.mechanism, seeds=8)
    mean = trace.regret.mean(axis=0)
    assert trace.finite
    assert mean[-1] < 1.4 * mean[len(mean) // 2 - 1]
