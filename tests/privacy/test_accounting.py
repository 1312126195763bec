"""Accounting: several reports of one person, against formulas, another library, and a ledger's limit."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sottovoce import Ball, Budget, Interval, Moments, calibrate
from sottovoce.privacy.accounting import POINTS, Ledger, Spent, cost_of, delta_of, epsilon_of, total_loss
from sottovoce.privacy.grid.calibrate import gaussian
from sottovoce.privacy.grid.delta import gaussian_delta
from sottovoce.privacy.grid.mechanism import RESOLUTION
from sottovoce.privacy.levels.mechanism import levels
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.protocol.errors import BrokenPromise, BudgetExhausted, ConfigurationError

ORACLE = json.loads((Path(__file__).parent.parent / "oracles" / "dp_accounting.json").read_text("utf-8"))
UNIT = Interval(0.0, 1.0)


def pure(*kinds: tuple[float, int]) -> Spent:
    return Spent(pure=kinds)


# --- costs -----------------------------------------------------------------------------------------------------------


def optimal_delta(epsilon: float, count: int, budget: float) -> float:
    """Kairouz, Oh, Viswanath (2015), Theorem 3.3: `count` equal reports at budget = (count - 2i) epsilon."""
    i = round((count - budget / epsilon) / 2)
    terms = [
        math.comb(count, j) * (math.exp((count - j) * epsilon) - math.exp((count - 2 * i + j) * epsilon))
        for j in range(i)
    ]
    return math.fsum(terms) / (1 + math.exp(epsilon)) ** count


@pytest.mark.parametrize(("epsilon", "count"), [(0.1, 30), (0.5, 7), (1.0, 2), (1.0, 12), (3.0, 5)])
def test_equal_pure_reports_cost_what_kairouz_oh_and_viswanath_prove(epsilon: float, count: int):
    for i in range(count // 2 + 1):
        budget = (count - 2 * i) * epsilon
        assert delta_of(pure((epsilon, count)), budget) == pytest.approx(
            optimal_delta(epsilon, count, budget), rel=1e-9, abs=1e-14
        )


@pytest.mark.parametrize("case", ORACLE, ids=lambda case: f"{str(case['pure'])[:24]} {case['gaussian']}")
def test_costs_agree_with_google_dp_accounting_and_are_never_below(case: dict[str, Any]):
    squared = math.fsum(count * distance**2 for distance, count in case["gaussian"])
    spent = Spent(tuple(map(tuple, case["pure"])), squared)
    for delta, epsilon in case["epsilon_of"]:
        # Its own discretisation, 1e-8 of epsilon and 1e-15 of delta, is the only excuse for being below.
        assert epsilon * (1 - 1e-7) <= epsilon_of(spent, delta) <= epsilon * (1 + 1e-3)
    for epsilon, delta in case["delta_of"]:
        assert delta * (1 - 1e-6) - 2e-15 <= delta_of(spent, epsilon) <= delta * (1 + 2e-3)


@given(st.lists(st.floats(0.01, 2.0), max_size=20), st.floats(0.0, 12.0))
def test_gaussian_distances_add_in_squares(distances: list[float], epsilon: float):
    squares = [distance**2 for distance in distances]
    spent = sum((Spent(squared=square) for square in squares), Spent())
    together = math.sqrt(math.fsum(squares))
    assert delta_of(spent, epsilon) == pytest.approx(gaussian_delta(epsilon, together), rel=1e-9, abs=1e-300)


@given(st.lists(st.tuples(st.floats(0.01, 4.0), st.integers(1, 9)), min_size=1, max_size=3), st.floats(0.01, 1.5))
@settings(max_examples=40)
def test_a_mixture_agrees_with_numerical_integration(kinds: list[tuple[float, int]], distance: float):
    losses, masses = total_loss(Spent(tuple(kinds)).pure)
    grid = np.linspace(-12, 12, 4001)
    gauss = stats.norm.pdf(grid) * (grid[1] - grid[0])
    for epsilon in (0.1, 1.0, 3.0):
        loss = losses[:, None] + distance**2 / 2 + distance * grid
        expected = float(masses @ -np.expm1(np.minimum(epsilon - loss, 0.0)) @ gauss)
        assert delta_of(Spent(tuple(kinds), distance**2), epsilon) == pytest.approx(expected, rel=1e-4, abs=1e-9)


@given(st.lists(st.tuples(st.floats(0.01, 4.0), st.integers(1, 40)), max_size=4), st.floats(0.0, 9.0))
@settings(max_examples=10)
def test_epsilon_of_inverts_delta_of(kinds: list[tuple[float, int]], squared: float):
    spent = Spent(tuple(kinds), squared)
    for delta in (1e-9, 1e-3):
        epsilon = epsilon_of(spent, delta)
        assert delta_of(spent, epsilon) <= delta * (1 + 1e-9)
        if epsilon > 0:
            assert delta_of(spent, epsilon * (1 - 1e-6)) > delta * (1 - 1e-4)


@given(st.lists(st.tuples(st.floats(0.01, 4.0), st.integers(1, 40)), max_size=4), st.floats(0.01, 9.0))
@settings(max_examples=40)
def test_more_reports_never_cost_less_and_more_epsilon_never_needs_more_delta(
    kinds: list[tuple[float, int]], squared: float
):
    spent = Spent(tuple(kinds), squared, 10)
    deltas = [delta_of(spent, epsilon) for epsilon in (0.0, 0.5, 2.0, 8.0, 30.0)]
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in itertools.pairwise(deltas))
    for more in (pure((0.7, 1)), Spent(squared=0.1)):
        # A grid that moves may be finer than the one before: its own overstatement is the only excuse.
        assert delta_of(spent + more, 2.0) >= delta_of(spent, 2.0) * (1 - 1e-3)


@given(st.lists(st.tuples(st.floats(0.01, 4.0), st.integers(1, 40)), min_size=1, max_size=5))
def test_the_exact_cost_is_never_above_the_sum_and_one_report_costs_its_epsilon(kinds: list[tuple[float, int]]):
    spent = Spent(tuple(kinds))
    assert spent.total == pytest.approx(sum(epsilon * count for epsilon, count in kinds))
    assert epsilon_of(spent, 0.0) == spent.total
    assert epsilon_of(spent, 1e-6) <= spent.total
    assert epsilon_of(pure((kinds[0][0], 1)), 1e-12) == pytest.approx(kinds[0][0], rel=1e-6)
    assert delta_of(spent, spent.total * (1 + 1e-12)) < 1e-11


def test_nothing_spent_costs_nothing():
    assert epsilon_of(Spent(), 0.0) == epsilon_of(Spent(), 1e-6) == 0.0
    assert delta_of(Spent(), 0.0) == 0.0


def test_a_gaussian_report_is_never_pure():
    assert epsilon_of(Spent(squared=0.01), 0.0) == math.inf


@pytest.mark.parametrize(
    "kinds", [((0.03, 700), (0.031, 700)), ((0.001, 70_000),), tuple((0.1 + 0.01 * i, 3) for i in range(30))]
)
def test_thinning_keeps_both_probabilities_and_hardly_moves_the_loss(kinds: tuple[tuple[float, int], ...]):
    losses, masses = total_loss(kinds)
    assert len(losses) <= POINTS
    assert np.sum(masses) == pytest.approx(1.0, rel=1e-9)  # for the person who answered
    assert np.sum(masses * np.exp(-losses)) == pytest.approx(1.0, rel=1e-6)  # for their neighbour
    variance = math.fsum(count * epsilon**2 / math.cosh(epsilon / 2) ** 2 for epsilon, count in kinds)
    mean = math.fsum(count * epsilon * math.tanh(epsilon / 2) for epsilon, count in kinds)
    assert masses @ losses == pytest.approx(mean, rel=1e-3)
    assert masses @ (losses - mean) ** 2 == pytest.approx(variance, rel=2e-3)


# --- what one report costs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["levels", "sphere", "laplace"])
def test_a_pure_report_costs_its_promise(name: str):
    assert cost_of(calibrate(name, UNIT, Budget(0.7))) == pure((0.7, 1))


def test_a_pure_report_that_breaks_its_promise_has_no_price():
    broken = levels(UNIT, Budget(1.0)).__class__(UNIT, Budget(1.0), 2, 10**9, 2**20)
    with pytest.raises(BrokenPromise):
        cost_of(broken)


@given(st.floats(0.05, 12.0), st.floats(-6.0, -1.0), st.integers(1, 12))
@settings(max_examples=60)
def test_one_gaussian_report_costs_exactly_its_budget(epsilon: float, exponent: float, dimension: int):
    budget = Budget(epsilon, 10.0**exponent)
    mechanism = gaussian(Ball(dimension), budget)
    spent = cost_of(mechanism)
    assert spent.coordinates == dimension
    assert delta_of(spent, epsilon) <= budget.delta * (1 + 1e-9)
    assert delta_of(spent, epsilon) <= mechanism.true_delta * (1 + 1e-9)
    assert epsilon_of(spent, budget.delta) == pytest.approx(epsilon, rel=1e-3)


def test_the_classical_formula_is_costed_at_its_true_distance():
    analytic, classical = (cost_of(gaussian(UNIT, Budget(1.0, 1e-5), formula)) for formula in ("analytic", "classical"))
    assert epsilon_of(classical, 1e-5) < 0.8 < epsilon_of(analytic, 1e-5)


def test_discrete_noise_costs_hardly_more_than_continuous_noise_at_any_epsilon():
    for squared in (0.07, 4.0, 70.0, 2000.0):
        ideal, real = epsilon_of(Spent(squared=squared), 1e-9), epsilon_of(Spent((), squared, 2000), 1e-9)
        assert ideal < real < ideal + 1e-5
    grid = 2000 * RESOLUTION**-2
    assert delta_of(Spent((), 0.07, 2000), 0.1) <= delta_of(Spent(squared=0.07), 0.1) + (1 + math.exp(0.1)) * grid / 12


# --- the value -------------------------------------------------------------------------------------------------------


def test_spending_adds_up_in_any_order():
    first, second = Spent(((1.0, 2), (0.5, 1)), 0.25, 3), Spent(((0.5, 4),), 0.5, 2)
    assert first + second == second + first == Spent(((0.5, 5), (1.0, 2)), 0.75, 5)
    assert first * 3 == first + first + first
    assert Spent(((1.0, 1), (1.0, 2))) == pure((1.0, 3))


@pytest.mark.parametrize(
    "fields",
    [
        {"pure": ((1.0, -1),)},
        {"pure": ((1.0, 0),)},
        {"pure": ((1.0, 1.5),)},
        {"pure": ((-1.0, 1),)},
        {"pure": ((math.nan, 1),)},
        {"pure": ((math.inf, 1),)},
        {"squared": -0.1},
        {"squared": math.nan},
        {"coordinates": -1},
    ],
)
def test_nothing_can_be_unspent(fields: dict[str, Any]):
    with pytest.raises(ConfigurationError, match="got"):
        Spent(**fields)


def test_what_was_spent_survives_as_plain_data():
    spent = Spent(((0.5, 3), (1.0, 1)), 0.125, 7)
    plain = {"pure": [[0.5, 3], [1.0, 1]], "squared": 0.125, "coordinates": 7}
    assert json.loads(msgspec.json.encode(spent)) == plain
    assert msgspec.convert(plain, Spent) == spent


# --- the ledger ------------------------------------------------------------------------------------------------------

KINDS: list[Mechanism] = [
    levels(UNIT, Budget(0.1)),
    levels(UNIT, Budget(1.0)),
    calibrate("laplace", UNIT, Budget(0.3)),
    calibrate("gaussian", Moments(2), Budget(0.5, 1e-7)),
    calibrate("gaussian", UNIT, Budget(1.0, 1e-7)),
]
LIMITS = [Budget(1.0), Budget(3.0), Budget(2.0, 1e-6), Budget(0.05), Budget(0.5, 1e-7)]


def test_ten_tenths_make_exactly_one():
    ledger = Ledger(Budget(1.0))
    assert ledger.remaining(KINDS[0]) == 10
    for _ in range(10):
        ledger.spend(KINDS[0])
    assert ledger.spent_epsilon() == pytest.approx(1.0)
    assert ledger.remaining(KINDS[0]) == 0
    with pytest.raises(BudgetExhausted, match=r"so far: epsilon 1; .* make it epsilon 1\.1; the limit is epsilon 1"):
        ledger.spend(KINDS[0])


def test_one_report_fits_the_limit_that_it_was_calibrated_for():
    for mechanism in KINDS:
        ledger = Ledger(mechanism.budget)
        ledger.spend(mechanism)
        with pytest.raises(BudgetExhausted):
            ledger.spend(mechanism)


def test_gaussian_noise_never_fits_a_pure_limit():
    with pytest.raises(BudgetExhausted, match="epsilon inf; the limit is epsilon 3"):
        Ledger(Budget(3.0)).spend(KINDS[3])


def test_a_little_delta_buys_many_more_reports():
    assert Ledger(Budget(3.0)).remaining(KINDS[0]) == 30
    assert Ledger(Budget(3.0, 1e-6), adaptive=False).remaining(KINDS[0]) > 40


@given(st.sampled_from(LIMITS), st.sampled_from(KINDS), st.booleans())
@settings(max_examples=60)
def test_exactly_so_many_reports_fit_as_remain(limit: Budget, mechanism: Mechanism, adaptive: bool):
    ledger = Ledger(limit, adaptive=adaptive)
    remaining = ledger.remaining(mechanism)
    for left in range(remaining, 0, -1):
        if left in (1, remaining):
            assert ledger.remaining(mechanism) == left
        ledger.spend(mechanism)
    before = ledger.spent
    with pytest.raises(BudgetExhausted):
        ledger.spend(mechanism)
    assert ledger.spent == before


@given(st.sampled_from(LIMITS), st.lists(st.sampled_from(KINDS), max_size=40), st.booleans())
@settings(max_examples=60)
def test_no_sequence_of_reports_ever_exceeds_the_limit(limit: Budget, wishes: list[Mechanism], adaptive: bool):
    ledger = Ledger(limit, adaptive=adaptive)
    sent = Spent()
    for mechanism in wishes:
        before = ledger.spent
        try:
            ledger.spend(mechanism)
        except BudgetExhausted:
            assert ledger.spent == before
            assert ledger.remaining(mechanism) == 0
        else:
            sent += cost_of(mechanism)
    assert ledger.spent == sent
    assert delta_of(sent, limit.epsilon * (1 + 1e-12)) <= limit.delta * (1 + 1e-9) + 1e-11 * limit.pure
    assert epsilon_of(sent, limit.delta) <= limit.epsilon * (1 + 1e-9)


def test_a_mechanism_that_breaks_its_promise_is_refused_before_it_is_debited():
    ledger = Ledger(Budget(50.0, 1e-5))
    with pytest.raises(BrokenPromise):
        ledger.spend(gaussian(UNIT, Budget(10.0, 1e-5), "classical"))
    assert ledger.spent == Spent()


def test_an_adaptive_ledger_is_the_stricter_one_by_about_a_quarter():
    limit, mechanism = Budget(4.0, 1e-6), KINDS[0]
    plain, adaptive = (Ledger(limit, adaptive=choice).remaining(mechanism) for choice in (False, True))
    assert plain / 1.25**2 * 0.9 <= adaptive < plain
    assert Ledger(Budget(1.0), adaptive=True).remaining(mechanism) == 10


@given(st.lists(st.tuples(st.floats(0.01, 8.0), st.integers(1, 40)), min_size=1, max_size=4))
@settings(max_examples=40)
def test_a_pure_report_costs_no_more_than_its_gaussian_counterpart(kinds: list[tuple[float, int]]):
    spent = Spent(tuple(kinds))
    for epsilon in (0.0, 0.1, 1.0, 5.0, 20.0):
        assert delta_of(spent, epsilon) <= delta_of(spent.as_gaussian, epsilon) * (1 + 1e-3) + 1e-15


def test_a_ledger_starts_again_from_what_was_kept():
    ledger = Ledger(Budget(1.0))
    ledger.spend(KINDS[2])
    again = Ledger(Budget(1.0), msgspec.json.decode(msgspec.json.encode(ledger.spent), type=Spent))
    assert again.remaining(KINDS[2]) == ledger.remaining(KINDS[2]) == 2
