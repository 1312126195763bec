"""The special functions against scipy, over wide ranges, in the tails and at the ends."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special as oracle
from scipy import stats

from sottovoce.privacy.special import (
    beta_cdf,
    bisect,
    log_normal_cdf,
    normal_cdf,
    normal_quantile,
)
from sottovoce.report.confidence import beta_quantile, student_quantile

SHAPES = (0.5, 1.0, 2.0, 3.5, 10.0, 167.0, 1000.0, 16000.0)


def test_the_normal_distribution_function_agrees_with_scipy_far_into_both_tails():
    points = np.linspace(-37.0, 9.0, 1501)
    np.testing.assert_allclose([normal_cdf(float(x)) for x in points], oracle.ndtr(points), rtol=1e-12)


def test_its_logarithm_stays_right_where_the_function_itself_underflows():
    points = np.concatenate(
        [-np.geomspace(1e-3, 1e6, 2001), [-29.999999, -30.0, -30.000001], np.linspace(0.0, 5.0, 51)]
    )
    logs = [log_normal_cdf(float(x)) for x in points]
    np.testing.assert_allclose(logs, oracle.log_ndtr(points), rtol=1e-12, atol=1e-15)


def test_the_normal_distribution_function_takes_infinities():
    assert (normal_cdf(-math.inf), normal_cdf(math.inf)) == (0.0, 1.0)
    assert (log_normal_cdf(-math.inf), log_normal_cdf(math.inf)) == (-math.inf, 0.0)


def test_normal_quantiles_agree_with_scipy_down_to_the_smallest_probabilities():
    levels = np.concatenate([np.geomspace(1e-300, 0.499, 301), 1 - np.geomspace(1e-15, 0.499, 101)])
    np.testing.assert_allclose([normal_quantile(float(p)) for p in levels], oracle.ndtri(levels), rtol=1e-11)
    assert [normal_quantile(p) for p in (0.0, 1.0)] == [-math.inf, math.inf]
    assert abs(normal_quantile(0.5)) < 1e-12


@given(st.floats(-37.0, 6.0))
def test_the_normal_quantile_inverts_the_distribution_function(x: float):
    # Above zero a quantile is known no better than 1 - p is.
    assert normal_quantile(normal_cdf(x)) == pytest.approx(
        x, rel=1e-9, abs=1e-12 + 1e-15 * math.exp(max(x, 0) ** 2 / 2)
    )


@given(st.floats(-50.0, 50.0))
def test_bisection_ends_on_the_upper_side_of_the_root(root: float):
    found = bisect(lambda x: x - root, -64.0, 64.0)
    assert found >= root
    assert found - root <= 1e-14


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("b", SHAPES)
def test_the_beta_distribution_function_agrees_with_scipy(a: float, b: float):
    spread = a / (a + b) + np.linspace(-6, 6, 49) * math.sqrt(a * b / (a + b + 1)) / (a + b)
    points = np.clip(np.concatenate([[0.0, 1.0], np.geomspace(1e-12, 0.5, 25), spread]), 0.0, 1.0)
    expected = oracle.betainc(a, b, points)
    visible = expected > 1e-280
    # Three of the sixteen digits go to log-gamma when a or b is in the thousands.
    np.testing.assert_allclose(beta_cdf(a, b, points)[visible], expected[visible], rtol=2e-10)
    np.testing.assert_allclose(beta_cdf(a, b, points)[~visible], 0.0, atol=1e-270)


@given(st.floats(0.5, 500.0), st.floats(0.5, 500.0), st.floats(0.0, 1.0))
def test_the_beta_distribution_function_is_symmetric(a: float, b: float, x: float):
    assert float(beta_cdf(a, b, x)) == pytest.approx(1 - float(beta_cdf(b, a, 1 - x)), abs=1e-9)


@pytest.mark.parametrize(
    ("a", "b"), [(0.5, 0.5), (2.0, 3.0), (3.5, 0.5), (100.0, 3.0), (1000.0, 1000.0), (1.0, 16000.0)]
)
@pytest.mark.parametrize("p", [1e-12, 1e-6, 0.01, 0.5, 0.99, 0.9999])
def test_the_beta_quantile_inverts_the_beta_distribution_function(a: float, b: float, p: float):
    assert oracle.betainc(a, b, beta_quantile(a, b, p)) == pytest.approx(p, rel=1e-6 if p < 1e-6 else 1e-9)


@pytest.mark.parametrize("degrees", [1, 2, 5, 7, 30, 1000])
@pytest.mark.parametrize("p", [0.51, 0.6, 0.9, 0.975, 0.9995, 1 - 1e-6, 1 - 1e-9])
def test_student_quantiles_agree_with_scipy(degrees: int, p: float):
    assert student_quantile(p, degrees) == pytest.approx(stats.t.ppf(p, degrees), rel=1e-8)
