"""The constants of the theorems' bounds, against numbers worked out by hand, and regret beside them."""

import math

import pytest

from sottovoce.catalogue.task import task
from sottovoce.lab.bounds import theorems
from sottovoce.lab.bounds.measure import BOXES, Beside, measure_box
from sottovoce.lab.table1.rows import ROWS

T = 10_000
SIGMA = 0.60560
"""sqrt(2 ln(1.25/1e-5))/8 = 4.84481/8."""
C = 4.24434
"""0.5 + 0.60560 sqrt(2 ln(2e8)) = 0.5 + 0.60560 * 6.18285."""


def test_the_noisy_range_of_theorem_3():
    asked = task("fkm", "paper", dimension=2, rounds=T, epsilon=8.0, delta=1e-5)
    assert theorems.classical_sigma(asked, 1.0) == pytest.approx(SIGMA, rel=1e-4)
    assert theorems.noisy_range(asked) == pytest.approx(C, rel=1e-4)


@pytest.mark.parametrize(
    ("learner", "bound", "by_hand"),
    [
        # 2 * 10^3 sqrt(3 * 2 C (0.5 + C)) + 1
        ("fkm", theorems.flaxman, 2000 * math.sqrt(6 * C * (0.5 + C)) + 1),
        # A = (2 C)^2 (1 + 9.21034) = 735.733, b = 3 + 2 C = 11.48868; mu = 1/2, 3/2^(2/3) = 1.889882
        ("agarwal-dekel-xiao", theorems.agarwal_dekel_xiao, 1.889882 * 9.02762 * 2363.27 + 1),
        # a = 4 C sqrt(2e4 * 9.21034), b = 10^4/2
        ("saha-tewari", theorems.saha_tewari, 1.889882 * (4 * C * 429.193) ** (2 / 3) * 5000 ** (1 / 3) + 1),
        # condition 1 + 2 = 3
        ("hazan-levy", theorems.hazan_levy, 8 * C * math.sqrt(3e4 * 9.21034) + 2 * C + 2),
    ],
)
def test_the_boxes_of_theorem_3(learner, bound, by_hand):
    asked = task(learner, "paper", dimension=2, rounds=T, epsilon=8.0, delta=1e-5)
    assert bound(asked) == pytest.approx(by_hand, rel=1e-3)


def test_the_two_parts_of_theorem_6():
    """Slope 1 + 1.21120 sqrt 2 = 2.71290: 50 (1 + 4 * 7.35982), 4 * 10.21034 * 7.35982; 4 * 2.71290 * 9.21034 + 2."""
    convex = task("two-point", "paper", dimension=2, rounds=T, epsilon=8.0, delta=1e-5)
    strong = task("two-point-strong", "paper", dimension=2, rounds=T, epsilon=8.0, delta=1e-5)
    assert theorems.two_point(convex) == pytest.approx(1521.96 + 101.95, rel=1e-4)
    assert theorems.two_point_strong(strong) == pytest.approx(300.58 + 101.95, rel=1e-4)


def test_both_parts_of_theorem_11():
    asked = task("tsallis-inf", "paper", arms=4, rounds=T, epsilon=8.0, delta=1e-5)
    assert theorems.tsallis_adversarial(asked) == pytest.approx(2 * C * 801 + 1, rel=1e-4)
    assert theorems.tsallis_stochastic(asked, 0.3) == pytest.approx(4 * C**2 * 10 * 48.8414 + 1, rel=1e-4)


def test_the_lower_bound_falls_with_epsilon_until_there_is_no_privacy():
    """At epsilon 0.1: c = e^0.2 (e^0.1 - 1)^2 = 0.0135099; sqrt(3e4/c)/37.31."""
    at = lambda epsilon: theorems.private_arms_at_least(task("tsallis-inf", arms=4, rounds=T, epsilon=epsilon))  # noqa: E731
    assert at(0.1) == pytest.approx(39.94, rel=1e-3)
    assert at(4.0) == at(8.0) == pytest.approx(math.sqrt(3e4 / 4) / 37.31, rel=1e-3)


def test_a_box_stays_between_its_bounds():
    """16 seeds of one row, short. A bound a thousand times smaller is broken: the test can fail."""
    box = next(box for box in BOXES if box.theorem == "11, adversary")
    found = measure_box(box, 1.0, 5_000, 16)
    assert found.holds
    assert not found._replace(bound=found.bound / 1000).holds
    assert theorems.private_arms_at_least(task("tsallis-inf", arms=5, rounds=5_000, epsilon=1.0)) < found.median


def test_every_box_names_a_row_and_says_when_a_bound_says_nothing():
    assert {box.row for box in BOXES} <= {row.name for row in ROWS}
    empty = Beside(BOXES[0], "fkm", 1.0, 10.0, 20.0, 400.0, 100.0)
    assert empty.vacuous
    assert empty.ratio == 20
    assert not empty._replace(bound=50.0).vacuous
