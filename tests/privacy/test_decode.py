"""The server side: estimates are right on average, and as noisy as `noise_of` says."""

import dataclasses
import math
import random
from typing import Any

import numpy as np
import pytest
from gates import ALARM, GATES, Gate, SeededEntropy
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sottovoce import Ball, Budget, Interval, Moments, calibrate, decode, noise_of, privatise
from sottovoce.privacy.domains import DirectionEstimate, MomentEstimate, size
from sottovoce.privacy.grid.mechanism import RESOLUTION, Gaussian, Laplace
from sottovoce.privacy.levels.mechanism import Levels, levels
from sottovoce.privacy.mechanisms import Mechanism, check
from sottovoce.privacy.noise import no_noise
from sottovoce.privacy.sphere.mechanism import Sphere, inner_products, sphere
from sottovoce.protocol.codec import pack
from sottovoce.protocol.errors import WireError

REPORTS = 2500


def numbers(estimate: Any) -> np.ndarray:
    """An estimate as one row: the scalar, the vector, or diagonal, upper triangle and moment."""
    if isinstance(estimate, MomentEstimate):
        upper = np.triu_indices(len(estimate.moment), 1)
        return np.concatenate([np.diag(estimate.gram), estimate.gram[upper], estimate.moment])
    if isinstance(estimate, DirectionEstimate):
        return np.append(estimate.direction, estimate.cut)
    return np.atleast_1d(estimate)


def estimates(mechanism: Mechanism, reports: list[bytes]) -> np.ndarray:
    return np.array([numbers(mechanism.domain.extract(one)) for one in mechanism.decode(reports)])


def mean_may_be(samples: np.ndarray, mean: np.ndarray) -> bool:
    """A z-test on every column; the false alarms, 1e-6, are shared among the columns."""
    error = np.std(samples, axis=0) / math.sqrt(len(samples))
    z = np.max(np.abs(np.mean(samples, axis=0) - mean) / error)
    return bool(z < stats.norm.isf(ALARM / 2 / np.size(mean)))


def weakened(mechanism: Mechanism) -> Mechanism:
    """The same mechanism as a server would read it that believes in another scale."""
    match mechanism:
        case Levels():
            return dataclasses.replace(mechanism, keep=mechanism.keep // 2)
        case Sphere():
            return dataclasses.replace(mechanism, mean=mechanism.mean / 2)
        case Gaussian() | Laplace():
            return dataclasses.replace(mechanism, scales=tuple(2 * scale for scale in mechanism.scales))


# --- unbiased --------------------------------------------------------------------------------------------------------


def test_estimates_are_right_on_average_and_wrong_at_another_scale(gate: Gate, entropy: SeededEntropy):
    # The sphere's reports cost most and say most: at epsilon 4 fewer of them, from a smaller codebook, are enough.
    epsilon, count = (4.0, 1000) if gate.name == "sphere" else (5.0, REPORTS)
    mechanism = gate.calibrated(epsilon)
    truth = numbers(gate.domain.extract(gate.message()))
    reports = [privatise(mechanism, gate.message(), entropy) for _ in range(count)]
    assert mean_may_be(estimates(mechanism, reports), truth)
    assert not mean_may_be(estimates(weakened(mechanism), reports), truth)


def level_law(mechanism: Levels, value: float) -> tuple[np.ndarray, np.ndarray]:
    """Every estimate and its probability, from the definition of the mechanism."""
    place = (value - mechanism.domain.low) / (mechanism.domain.high - mechanism.domain.low) * (mechanism.levels - 1)
    below = min(int(place), mechanism.levels - 2)
    rounded = np.zeros(mechanism.levels)
    rounded[[below, below + 1]] = 1 - (place - below), place - below
    total = mechanism.keep + (mechanism.levels - 1) * mechanism.flip
    law = (rounded * (mechanism.keep - mechanism.flip) + mechanism.flip) / total
    sent = [level.to_bytes(mechanism.report_size, "big") for level in range(mechanism.levels)]
    return np.array([float(decode(mechanism, report)) for report in sent]), law


@given(st.floats(1.0, 5.0), st.floats(0.1, 12.0), st.sampled_from([None, 2, 3, 10, 300]))
def test_levels_are_unbiased_for_every_number(value: float, epsilon: float, count: int | None):
    mechanism = levels(Interval(1.0, 5.0), Budget(epsilon), count)
    values, law = level_law(mechanism, value)
    assert values @ law == pytest.approx(value, abs=1e-9 * noise_of(mechanism).bound)


# --- noise -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0, 8.0, 12.0])
def test_the_noise_of_levels_is_its_worst_case_over_all_numbers(epsilon: float):
    mechanism = levels(Interval(1.0, 5.0), Budget(epsilon))
    noise = noise_of(mechanism)
    spreads = []
    for value in np.linspace(1.0, 5.0, 1025):
        values, law = level_law(mechanism, float(value))
        spreads.append(float((values - value) ** 2 @ law))
        assert np.max(np.abs(values - 3.0)) == pytest.approx(noise.bound)
    assert max(spreads) == pytest.approx(noise.variance, rel=1e-3)
    assert noise.levels == mechanism.levels
    assert noise.proxy >= max(spreads)


def deviations(domain: Any, mechanism: Mechanism) -> np.ndarray:
    """`noise_of(...).per_block`, one entry a number."""
    return np.repeat(noise_of(mechanism).per_block, domain.blocks)


@pytest.mark.parametrize("gate", [gate for gate in GATES if gate.name in ("gaussian", "laplace")], ids=str)
def test_additive_noise_has_the_deviation_that_noise_of_says(gate: Gate, entropy: SeededEntropy):
    mechanism = gate.calibrated(3.0)
    truth = numbers(gate.domain.extract(gate.message()))
    reports = [privatise(mechanism, gate.message(), entropy) for _ in range(REPORTS)]
    squares = (estimates(mechanism, reports) - truth) ** 2
    assert mean_may_be(squares, deviations(gate.domain, mechanism) ** 2)
    assert not mean_may_be(squares, deviations(gate.domain, weakened(mechanism)) ** 2)
    assert noise_of(mechanism).variance == pytest.approx(max(noise_of(mechanism).per_block) ** 2)


def sphere_variances(mechanism: Sphere) -> tuple[float, float]:
    """Variance along the lifted message and across it, by the law of the inner product."""
    dimension = size(mechanism.domain) + 1
    inner, mass, in_cap = inner_products(dimension, mechanism.candidates, mechanism.cap)
    sent = mass * (in_cap * mechanism.inside + (1 - in_cap) * mechanism.outside)
    sent /= np.sum(sent)
    square, unit = float(sent @ inner**2), (mechanism.domain.radius / mechanism.mean) ** 2
    return unit * (square - float(sent @ inner) ** 2), unit * (1 - square) / (dimension - 1)


@pytest.mark.parametrize("epsilon", [1.0, 4.0, 8.0])
def test_the_noise_of_the_sphere_follows_its_law(epsilon: float, entropy: SeededEntropy):
    domain = Ball(4, 2.0)
    mechanism = sphere(domain, Budget(epsilon))
    message = domain.embed(np.array([0.0, 2.0, 0.0, 0.0]))
    reports = [privatise(mechanism, message, entropy) for _ in range(1500)]
    squares = (estimates(mechanism, reports) - message) ** 2
    along, across = sphere_variances(mechanism)
    expected = np.array([across, along, across, across])
    assert mean_may_be(squares, expected)
    assert not mean_may_be(squares, 1.5 * expected)


@pytest.mark.parametrize("dimension", [1, 2, 5, 20, 64])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0, 8.0, 12.0])
def test_the_noise_of_the_sphere_is_never_understated(dimension: int, epsilon: float):
    mechanism = sphere(Ball(dimension), Budget(epsilon))
    assert max(sphere_variances(mechanism)) <= 1.002 * noise_of(mechanism).variance


@pytest.mark.parametrize(("dimension", "epsilon"), [(1, 8.0), (4, 8.0), (5, 10.0)])
def test_the_noise_of_the_sphere_is_not_overstated_in_few_dimensions(dimension: int, epsilon: float):
    mechanism = sphere(Ball(dimension), Budget(epsilon))
    assert noise_of(mechanism).variance <= 1.3 * max(sphere_variances(mechanism))


def test_noise_is_told_in_the_units_of_the_estimate():
    budget = Budget(1.0, 1e-5)
    narrow, wide = (calibrate("gaussian", Interval(0.0, high), budget) for high in (1.0, 10.0))
    assert noise_of(wide).per_block[0] == pytest.approx(10 * noise_of(narrow).per_block[0])
    one, three = (calibrate("gaussian", Moments(2, bound), budget) for bound in (1.0, 3.0))
    assert noise_of(three).per_block == pytest.approx(np.array(noise_of(one).per_block) * (1, 1, 3))


def test_laplace_noise_confesses_its_heavier_tail():
    assert noise_of(calibrate("laplace", Interval(-1.0, 1.0), Budget(1.0))).tail == pytest.approx(2.0, rel=1e-6)
    assert noise_of(calibrate("gaussian", Interval(), Budget(1.0, 1e-5))).tail == 0.0


def test_silence_is_the_limit_of_a_large_epsilon():
    noise = no_noise(Interval(0.0, 4.0))
    assert noise.variance == 0.0
    assert noise.bound == pytest.approx(noise_of(levels(Interval(0.0, 4.0), Budget(12.0), 2)).bound, rel=1e-4)


# --- what is not a report --------------------------------------------------------------------------------------------


def test_a_report_of_another_length_is_refused_with_both_lengths(gate: Gate, entropy: SeededEntropy):
    mechanism = gate.calibrated(2.0)
    report = privatise(mechanism, gate.message(), entropy)
    for wrong in (b"", report[:-1], report + b"\0", report * 2):
        with pytest.raises(WireError, match=f"have {len(report)} bytes, got {len(wrong)}"):
            decode(mechanism, wrong)


def test_a_level_that_does_not_exist_is_refused():
    mechanism = calibrate("levels", Interval(), Budget(1.0))
    with pytest.raises(WireError, match="2 levels, got level 2"):
        decode(mechanism, b"\2")


@pytest.mark.parametrize(("epsilon", "index"), [(1.0, 2), (1.0, 255), (12.0, 8192), (12.0, 65535)])
def test_a_candidate_that_does_not_exist_is_refused(epsilon: float, index: int):
    mechanism = sphere(Ball(3), Budget(epsilon))
    with pytest.raises(WireError, match=f"{mechanism.candidates} candidates, got index {index}"):
        decode(mechanism, bytes(12) + index.to_bytes(mechanism.report_size, "big"))


def reach(mechanism: Mechanism) -> float:
    """The longest message that a report can be read as, as documented."""
    match mechanism:
        case Levels() | Sphere():
            return mechanism.reach
        case Gaussian() | Laplace():
            scales = np.repeat(mechanism.scales, mechanism.domain.blocks)
            return float(np.linalg.norm(mechanism.reach / RESOLUTION * scales))


@pytest.mark.parametrize("gate", GATES, ids=str)
def test_whatever_passes_for_a_report_says_no_more_than_the_documented_reach(gate: Gate):
    """Random bytes, small grids (most of which pass), and the extremes."""
    mechanism, draw = gate.calibrated(2.0), random.Random(8)
    length, grid = mechanism.coin_size + mechanism.report_size, isinstance(mechanism, Gaussian | Laplace)
    small = [pack([draw.randrange(-(2**28), 2**28) for _ in range(length // 8)], 8, signed=True) for _ in range(200)]
    forged = [draw.randbytes(length) for _ in range(2000)] + [bytes(length), b"\x7f" + b"\xff" * (length - 1)]
    passed = 0
    for report in forged + small * grid:
        try:
            check(mechanism, report)
        except WireError:
            continue
        passed += 1
        assert np.linalg.norm(mechanism.decode([report])[0]) <= reach(mechanism) * (1 + 1e-12)
    assert passed > 0


@pytest.mark.parametrize("gate", [gate for gate in GATES if gate.name in ("gaussian", "laplace")], ids=str)
def test_noise_that_no_device_draws_is_refused_and_what_they_draw_is_not(gate: Gate, entropy: SeededEntropy):
    mechanism = gate.calibrated(2.0)
    for _ in range(300):
        check(mechanism, privatise(mechanism, gate.message(), entropy))
    limit = mechanism.reach
    check(mechanism, limit.astype(">i8").tobytes())
    check(mechanism, (-limit).astype(">i8").tobytes())
    for forged in (limit[0] + 1, -limit[0] - 1, 2**63 - 1, -(2**63)):
        with pytest.raises(WireError, match="more noise than any device draws"):
            check(mechanism, np.array([forged, *limit[1:]]).astype(">i8").tobytes())
    furthest = {"gaussian": 8.9, "laplace": 37.3}[gate.name]  # scales; P < 1e-15 for up to ten coordinates
    assert np.all(limit <= (furthest + mechanism.domain.radius / min(mechanism.scales)) * RESOLUTION)


@given(st.binary(min_size=12, max_size=12), st.integers(0, 15))
def test_any_coin_decodes_to_a_vector_of_bounded_length(coin: bytes, index: int):
    mechanism = sphere(Ball(3), Budget(4.0))
    estimate = decode(mechanism, coin + bytes([index]))
    assert np.linalg.norm(estimate) <= 1 / mechanism.mean * (1 + 1e-12)
