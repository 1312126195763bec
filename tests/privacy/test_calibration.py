"""Calibration: known values, and a `verify` that believes nobody."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special as oracle

from sottovoce import Ball, Budget, Interval, Moments, calibrate, noise_of, privatise
from sottovoce.privacy.domains import size
from sottovoce.privacy.grid.calibrate import classical_gaussian, gaussian, laplace
from sottovoce.privacy.grid.delta import gaussian_delta, gaussian_scale
from sottovoce.privacy.grid.mechanism import Gaussian
from sottovoce.privacy.levels.mechanism import levels
from sottovoce.privacy.mechanisms import Mechanism, verify
from sottovoce.privacy.sphere.mechanism import sphere, sphere_mean
from sottovoce.protocol.errors import BrokenPromise, ConfigurationError, UnknownName

UNIT = Interval(-1.0, 1.0)


def scipy_delta(epsilon: float, distance: float) -> float:
    """Balle and Wang (2018), Theorem 8, written with scipy's logarithms."""
    first = oracle.log_ndtr(distance / 2 - epsilon / distance)
    second = epsilon + oracle.log_ndtr(-distance / 2 - epsilon / distance)
    return float(-np.exp(first) * np.expm1(min(second - first, 0.0)))


# --- known values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "delta", "scale"),
    [(1.0, 1e-5, 3.7306), (0.5, 1e-5, 7.0318), (0.1, 1e-5, 30.7496), (2.0, 1e-6, 2.2305), (8.0, 1e-5, 0.6002)],
)
def test_the_least_gaussian_noise_has_its_published_values(epsilon: float, delta: float, scale: float):
    assert gaussian_scale(epsilon, delta) == pytest.approx(scale, abs=6e-5)


@pytest.mark.parametrize("epsilon", [-30.0, -2.0, -0.1, 0.0, 1e-6, 0.1, 1.0, 4.0, 12.0, 60.0, 700.0])
@pytest.mark.parametrize("distance", [1e-4, 0.01, 0.2, 1.0, 3.0, 12.0, 40.0])
def test_the_delta_of_gaussian_noise_agrees_with_scipy_also_at_the_extremes(epsilon: float, distance: float):
    assert gaussian_delta(epsilon, distance) == pytest.approx(scipy_delta(epsilon, distance), rel=1e-8, abs=1e-15)


@pytest.mark.parametrize("epsilon", [-3.0, 0.0, 3.0])
def test_no_distance_costs_no_delta_above_what_a_negative_epsilon_asks(epsilon: float):
    assert gaussian_delta(epsilon, 0.0) == pytest.approx(max(0.0, 1 - math.exp(epsilon)))
    assert gaussian_delta(epsilon, 1e-12) == pytest.approx(gaussian_delta(epsilon, 0.0), abs=1e-12)


@given(st.floats(0.01, 12.0), st.floats(-12.0, -0.5))
def test_the_least_noise_spends_delta_and_a_little_less_noise_overspends_it(epsilon: float, exponent: float):
    delta = 10.0**exponent
    scale = gaussian_scale(epsilon, delta)
    assert gaussian_delta(epsilon, 1 / scale) == pytest.approx(delta, rel=1e-6)
    assert gaussian_delta(epsilon, 1.001 / scale) > delta


@pytest.mark.parametrize(("epsilon", "variance"), [(1.0, 4.68), (2.0, 1.00), (4.0, 0.177), (8.0, 0.0111)])
def test_levels_have_the_variance_that_the_architecture_promises(epsilon: float, variance: float):
    assert noise_of(levels(UNIT, Budget(epsilon))).variance == pytest.approx(variance, rel=3e-3)


@given(st.floats(0.05, 12.0))
def test_no_other_number_of_levels_is_better_than_the_one_chosen(epsilon: float):
    chosen = noise_of(levels(UNIT, Budget(epsilon))).variance
    assert all(noise_of(levels(UNIT, Budget(epsilon), count)).variance >= chosen for count in (2, 3, 5, 9, 17, 33))


@pytest.mark.parametrize(
    ("lifted", "epsilon", "optimum"),
    [(5, 1.0, 28.2), (5, 4.0, 1.54), (5, 10.0, 0.12), (20, 1.0, 123.0), (20, 4.0, 8.0), (20, 10.0, 1.39)],
)
def test_the_small_codebook_costs_at_most_a_fifth_over_privunit_and_a_large_one_nothing(
    lifted: int, epsilon: float, optimum: float
):
    """The squared error for a unit vector; PrivUnit is the optimum."""
    mechanism = sphere(Ball(lifted - 1), Budget(epsilon))
    ratio = mechanism.inside / mechanism.outside
    large = max(sphere_mean(lifted, 8192, cap, ratio) for cap in (1, 4, 16, 32, 48, 64, 256, 512, 1024, 3000))
    assert 0.99 * optimum <= 1 / large**2 - 1 <= 1.05 * optimum
    assert 1 / mechanism.mean**2 - 1 <= 1.2 * optimum


def test_the_paper_puts_the_same_noise_on_every_entry():
    mechanism = gaussian(Moments(5, reward_bound=2.0), Budget(1.0, 1e-5), "paper")
    diagonal, upper, vector = noise_of(mechanism).per_block
    assert (diagonal, upper, vector) == pytest.approx((29.915, 29.915, 29.915), rel=1e-4)
    verify(mechanism)


@given(st.floats(0.05, 12.0), st.floats(-6.0, -1.0))
def test_gaussian_noise_spends_its_whole_budget_and_is_hardly_above_the_continuous_one(epsilon: float, exponent: float):
    budget = Budget(epsilon, 10.0**exponent)
    mechanism = gaussian(Moments(3), budget)
    assert mechanism.true_delta == pytest.approx(budget.delta, rel=1e-6)
    ideal = Moments(3).l2() * gaussian_scale(*budget)
    assert ideal <= mechanism.scales[0] <= ideal * (1 + 3e-5)


def test_laplace_noise_is_the_textbook_scale_and_a_millionth():
    assert laplace(UNIT, Budget(1.0)).scales[0] == pytest.approx(2.0, rel=1e-6)
    assert laplace(Ball(4, 3.0), Budget(0.5)).scales[0] == pytest.approx(2 * 3 * 2 / 0.5, rel=2e-6)


# --- verify ----------------------------------------------------------------------------------------------------------

HONEST: list[Mechanism] = [
    levels(UNIT, Budget(1.0)),
    sphere(Ball(3), Budget(1.0)),
    laplace(Moments(2), Budget(1.0)),
    gaussian(Moments(2), Budget(1.0, 1e-5)),
]


@settings(max_examples=40)
@given(st.sampled_from(["levels", "sphere", "laplace", "gaussian"]), st.floats(1e-3, 12.0))
def test_whatever_calibrate_makes_verify_accepts(name: str, epsilon: float):
    domain = UNIT if name == "levels" else Ball(2)
    verify(calibrate(name, domain, Budget(epsilon, 1e-5 if name == "gaussian" else 0.0)))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0, 8.3])
def test_the_classical_formula_is_accepted_where_it_holds(epsilon: float):
    verify(gaussian(UNIT, Budget(epsilon, 1e-5), "classical"))


@pytest.mark.parametrize(("epsilon", "delta"), [(8.5, 1e-5), (10.0, 1e-5), (12.0, 1e-5), (7.6, 1e-3), (5.8, 0.1)])
def test_the_classical_formula_is_refused_where_it_misses_with_the_true_delta(epsilon: float, delta: float):
    budget = Budget(epsilon, delta)
    truth = scipy_delta(epsilon, 1 / classical_gaussian(budget))
    assert truth > delta
    with pytest.raises(BrokenPromise, match=rf"promises delta {delta:g} at epsilon {epsilon:g} but gives {truth:.3g}"):
        verify(gaussian(UNIT, budget, "classical"))


def tampered() -> list[tuple[Mechanism, dict[str, Any]]]:
    randomised, codebook, double, normal = HONEST
    return [
        (randomised, {"keep": randomised.keep + 1}),
        (randomised, {"flip": randomised.flip - 1}),
        (randomised, {"flip": 0}),
        (randomised, {"keep": -randomised.keep, "flip": -randomised.flip}),
        (randomised, {"levels": 1}),
        (randomised, {"levels": 2**16 + 1}),
        (codebook, {"inside": codebook.inside + 1}),
        (codebook, {"cap": 0}),
        (codebook, {"cap": codebook.candidates}),
        (codebook, {"cap": codebook.candidates + 1}),
        (codebook, {"candidates": 2**16 + 1}),
        (double, {"scales": tuple(0.999999 * s for s in double.scales)}),
        (double, {"scales": double.scales[:2]}),
        (double, {"scales": (*double.scales[:2], 0.0)}),
        (double, {"scales": (*double.scales[:2], -1.0)}),
        (double, {"scales": (*double.scales[:2], math.nan)}),
        (normal, {"scales": tuple(0.999999 * s for s in normal.scales)}),
        (normal, {"scales": (normal.scales[0] / 2, *normal.scales[1:])}),
        (normal, {"scales": (math.inf, *normal.scales[1:])}),
        (normal, {"domain": Moments(2, weight=1.01)}),
        (normal, {"budget": Budget(0.999, 1e-5)}),
        (normal, {"budget": Budget(1.0, 0.0)}),
        *[(m, {"budget": Budget(12.001, m.budget.delta)}) for m in HONEST],
        *[(m, {"budget": Budget(epsilon, m.budget.delta)}) for m in HONEST for epsilon in (0.0, -1.0, math.nan)],
    ]  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(("honest", "change"), tampered(), ids=lambda value: str(value)[:40])
def test_a_tampered_mechanism_is_refused_by_verify_and_so_by_the_gate(honest: Mechanism, change: dict[str, Any]):
    verify(honest)
    broken = dataclasses.replace(honest, **change)
    with pytest.raises(BrokenPromise):
        verify(broken)
    with pytest.raises(BrokenPromise):
        privatise(broken, np.zeros(size(broken.domain)))


def test_a_codebook_too_large_for_a_device_is_refused():
    with pytest.raises(BrokenPromise, match="is not one we compute"):
        verify(sphere(Ball(5000), Budget(12.0)))


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(UnknownName, match="gaussian, laplace, levels, sphere"):
        calibrate("exponential", UNIT, Budget(1.0))
    with pytest.raises(UnknownName, match="analytic, classical"):
        calibrate("gaussian", UNIT, Budget(1.0, 1e-5), "magic")


def test_gaussian_noise_cannot_be_pure():
    with pytest.raises(ConfigurationError, match="needs a delta above 0"):
        gaussian(UNIT, Budget(1.0))


# --- known weaknesses: each fails today and says what is wanted -------------------------------------------------------


@pytest.mark.parametrize("delta", [math.nan, 1.0, 2.0])
def test_a_delta_that_promises_nothing_is_refused(delta: float):
    with pytest.raises(BrokenPromise):
        verify(Gaussian(UNIT, Budget(1.0, delta), (1e-3,)))


@pytest.mark.parametrize(("domain", "budget"), [(Moments(10), Budget(12.0, 1e-10)), (UNIT, Budget(12.0, 1e-11))])
def test_a_tiny_delta_at_a_large_epsilon_is_calibrated_and_kept(domain: Moments | Interval, budget: Budget):
    verify(gaussian(domain, budget))


def test_a_budget_too_small_for_the_grid_is_a_configuration_error():
    with pytest.raises(ConfigurationError):
        laplace(Moments(10), Budget(1e-6))


def test_the_slack_of_discrete_noise_is_below_a_millionth_for_every_budget():
    budget = Budget(7.0, 1e-9)
    assert gaussian(Moments(3), budget).scales[0] <= Moments(3).l2() * gaussian_scale(*budget) * (1 + 1e-6)


@pytest.mark.parametrize(("name", "domain"), [("levels", UNIT), ("sphere", Ball(3))])
def test_an_epsilon_below_the_weights_resolution_is_a_configuration_error(name: str, domain: Interval | Ball):
    with pytest.raises(ConfigurationError):
        calibrate(name, domain, Budget(1e-7))


@pytest.mark.parametrize(
    ("honest", "change"), [(HONEST[0], {"levels": 2.5}), (HONEST[1], {"cap": 1.5}), (HONEST[1], {"candidates": 99.5})]
)
def test_counts_that_are_not_whole_numbers_are_refused(honest: Mechanism, change: dict[str, Any]):
    with pytest.raises(BrokenPromise):
        verify(dataclasses.replace(honest, **change))


def test_levels_refuse_what_is_not_one_number():
    with pytest.raises(ConfigurationError, match="one number"):
        calibrate("levels", Ball(2), Budget(1.0))
    with pytest.raises(BrokenPromise, match="one number"):
        verify(dataclasses.replace(HONEST[0], domain=Ball(2)))


@pytest.mark.parametrize("number", [1.0, 1, None, (1.0, 1e-5)])
@pytest.mark.parametrize("name", ["levels", "sphere", "gaussian", "laplace"])
def test_a_bare_number_where_a_budget_belongs_is_refused_with_what_to_write(name: str, number: Any):
    with pytest.raises(ConfigurationError) as refused:
        calibrate(name, UNIT, number)
    assert str(refused.value) == f"give a budget, as in calibrate('{name}', domain, budget(1.0)), got {number!r}"
