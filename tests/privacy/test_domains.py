"""Domains: what they let in, what they make of it, and how far apart two of their messages can be."""

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize

from sottovoce import Ball, Budget, Direction, Gradient, Interval, Moments, calibrate, privatise
from sottovoce.lab.audit.subjects import most_different
from sottovoce.privacy.domains import DOMAINS, ROUNDING, Domain, Relabelled, size
from sottovoce.privacy.grid.calibrate import gaussian
from sottovoce.privacy.grid.mechanism import RESOLUTION
from sottovoce.protocol.errors import BadInput, ConfigurationError

ANY_FLOAT = st.floats(allow_nan=False, allow_infinity=False)
DOMAIN_EXAMPLES = [
    Interval(-2.0, 6.0),
    Ball(3, 2.0),
    Moments(3, 2.0, 0.7),
    Relabelled(3, 0.8, 2.0, 0.7),
    Gradient(3, 0.5),
    Direction(3, 0.4),
    Moments(1),
    Ball(1),
]


def data(domain: Domain, numbers: st.SearchStrategy[float] = ANY_FLOAT) -> st.SearchStrategy[tuple]:
    """Raw data of the right shape for this domain, of any size."""
    vectors = arrays(float, getattr(domain, "dimension", 1), elements=numbers)
    match domain:
        case Interval():
            return st.tuples(numbers)
        case Ball():
            return st.tuples(vectors)
        case Direction() | Relabelled():
            return st.tuples(vectors, numbers, numbers)
        case _:
            return st.tuples(vectors, numbers)


def embed(domain: Any, datum: tuple) -> Any:
    return domain.embed(*datum)


TRACED = jax.jit(embed, static_argnums=0)


# --- sensitivity -----------------------------------------------------------------------------------------------------


def farthest(domain: Domain, scales: tuple[float, ...], order: int, starts: int) -> float:
    """The largest distance that a search over pairs of people finds: random starts, each climbed."""
    rng = np.random.default_rng(7)
    width = getattr(domain, "dimension", 0) + (0 if isinstance(domain, Ball) else 1)
    scale = np.repeat(scales, domain.blocks)

    def message(z: np.ndarray) -> np.ndarray:
        return domain.embed(z[:-1], z[-1] * 10) if not isinstance(domain, Ball) else domain.embed(z)

    def distance(z: np.ndarray) -> float:
        return float(np.linalg.norm((message(z[:width]) - message(z[width:])) / scale, order))

    best = 0.0
    for _ in range(starts):
        start = rng.normal(size=2 * width) * rng.choice([0.3, 1.0, 3.0], size=2 * width)
        climbed = optimize.minimize(lambda z: -distance(z), start, method="L-BFGS-B", options={"maxiter": 60})
        best = max(best, distance(start), -float(climbed.fun))
    return best


@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
@pytest.mark.parametrize("weight", [0.3, 0.6, 1.0, 3.0])
@pytest.mark.parametrize("scales", [(1.0, 1.0, 1.0), (0.8, 2.0, 0.5)])
def test_two_people_reach_the_declared_distance_of_moments_and_never_pass_it(
    dimension: int, weight: float, scales: tuple[float, ...]
):
    domain = Moments(dimension, 1.5, weight)
    declared = domain.l2(scales)
    found = farthest(domain, scales, 2, starts=3 if dimension < 5 else 2)
    assert 0.99 * declared <= found <= declared * (1 + 1e-9)


@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
@pytest.mark.parametrize("weight", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("scales", [(1.0, math.sqrt(2), 1.0), (2.0, 1.0, 0.5)])
def test_no_two_people_pass_the_declared_l1_distance_of_moments(
    dimension: int, weight: float, scales: tuple[float, ...]
):
    domain = Moments(dimension, 1.5, weight)
    found = farthest(domain, scales, 1, starts=2)
    assert 0.5 * domain.l1(scales) <= found <= domain.l1(scales) * (1 + 1e-9)


@pytest.mark.parametrize("dimension", [1, 3])
@pytest.mark.parametrize("scales", [(2.0, 1.5, 0.7, 4.0), (0.3, 0.5, 2.0, 1.0)])
def test_two_people_reach_the_declared_distance_of_three_messages_and_never_pass_it(
    dimension: int, scales: tuple[float, ...]
):
    """The label's share of the vectors is the largest that it may be; a label that is free goes no farther."""
    domain, rng = Relabelled(dimension, 0.8, 2.0, 0.7), np.random.default_rng(3)
    scale, width = np.repeat(scales, domain.blocks), dimension + 2

    def apart(z: np.ndarray, order: int = 2) -> float:
        first, second = (domain.embed(half[:-2], 10 * half[-2], 10 * half[-1]) for half in np.split(z, 2))
        return float(np.linalg.norm((first - second) / scale, order))

    starts = rng.normal(size=(2, 2 * width))
    starts[:, -2:] = -starts[:, width - 2 : width]
    climbed = [optimize.minimize(lambda z: -apart(z), start, method="L-BFGS-B") for start in starts]
    assert 0.99 * domain.l2(scales) <= -min(found.fun for found in climbed) <= domain.l2(scales) * (1 + 1e-9)
    assert max(apart(found.x, 1) for found in climbed) <= domain.l1(scales)


def test_the_audit_knows_the_two_most_different_people_of_three_messages():
    domain = Relabelled(3, 0.8, 2.0, 0.7)
    first, second = (domain.embed(*datum) for datum in most_different(domain))
    assert np.linalg.norm(first - second) == pytest.approx(domain.l2())


@pytest.mark.parametrize(("dimension", "spread"), [(1, 1.0), (2, math.sqrt(5))])
def test_the_l1_distance_of_the_matrix_alone_is_reached_in_one_and_two_dimensions(dimension: int, spread: float):
    scales = (1.0, math.sqrt(2), 1e9)  # the vector block is drowned
    assert Moments(dimension).l1(scales) == pytest.approx(spread, rel=1e-6)
    assert farthest(Moments(dimension), scales, 1, starts=15) == pytest.approx(spread, rel=1e-2)


@pytest.mark.parametrize(
    ("weight", "l2"),
    [(1.0, 3 / math.sqrt(2)), (math.sqrt(2), 2 * math.sqrt(2)), (2.0, 4.0), (0.5, 2.25 / math.sqrt(2))],
)
def test_moments_have_the_distance_of_the_fact_sheet(weight: float, l2: float):
    assert Moments(5, weight=weight).l2() == pytest.approx(l2)


@pytest.mark.parametrize("domain", [Ball(1, 2.0), Ball(4, 0.3), Gradient(4, 0.3)])
def test_opposite_corners_of_a_ball_are_exactly_as_far_as_declared(domain: Ball | Gradient):
    corner = np.full(domain.dimension, domain.bound / math.sqrt(domain.dimension))
    assert np.linalg.norm(2 * corner) == pytest.approx(domain.l2(), rel=1e-12)
    assert np.sum(np.abs(2 * corner)) / 0.7 == pytest.approx(domain.l1((0.7,)), rel=1e-12)


def test_directions_reach_the_declared_distance_but_for_the_cut():
    domain, x = Direction(4, 0.3), np.ones(4)
    apart = domain.embed(x, 1.0, 1.0) - domain.embed(x, -2.0, 1.0)
    assert np.linalg.norm(apart[:-1]) == pytest.approx(2.0)
    assert np.sum(np.abs(apart)) == pytest.approx(domain.l1())
    assert np.linalg.norm(apart) == pytest.approx(domain.l2())


@pytest.mark.parametrize("length", [1e-290, 1e-200, 1e-3, 1.0, 1e140])
def test_a_direction_has_no_length(length: float):
    x, wanted = np.array([3.0, -4.0, 0.0]) * length, [0.3, -0.4, 0.0, -0.2]
    np.testing.assert_allclose(Direction(3).embed(x, 0.05, 0.1), wanted, rtol=1e-3)
    np.testing.assert_array_equal(Direction(3).embed(0 * x, 0.05, 0.1)[:3], 0.0)


def test_the_ends_of_an_interval_are_exactly_as_far_as_declared():
    domain = Interval(3.0, 11.0)
    reached = float(np.abs(domain.embed(3.0) - domain.embed(11.0))[0])
    assert reached == domain.l2() == domain.l1()


@pytest.mark.parametrize("domain", DOMAIN_EXAMPLES, ids=str)
@given(sample=st.data())
def test_no_message_is_longer_than_the_radius(domain: Domain, sample: st.DataObject):
    message = embed(domain, sample.draw(data(domain)))
    assert np.linalg.norm(message) <= domain.radius * (1 + 1e-12)


# --- what comes in ---------------------------------------------------------------------------------------------------

NOT_NUMBERS = ["four", "", {}, NotImplemented, [1.0, [2.0]], 1j, {1.0, 2.0}]


@pytest.mark.parametrize("domain", DOMAIN_EXAMPLES, ids=str)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None])
@settings(max_examples=25)
@given(sample=st.data())
def test_one_number_that_is_not_finite_is_refused_wherever_it_stands(domain: Any, bad: Any, sample: st.DataObject):
    datum = [np.array(part, dtype=float) for part in sample.draw(data(domain))]
    part = sample.draw(st.integers(0, len(datum) - 1))
    place = sample.draw(st.integers(0, datum[part].size - 1))
    datum[part].reshape(-1)[place] = math.nan if bad is None else bad
    with pytest.raises(BadInput, match="finite"):
        domain.embed(*datum)


@pytest.mark.parametrize("domain", [Ball(3), Moments(3), Gradient(3)], ids=str)
@given(length=st.integers(0, 8).filter(lambda n: n != 3))
def test_a_vector_of_the_wrong_length_is_refused_and_told_both_lengths(domain: Any, length: int):
    with pytest.raises(BadInput, match=rf"shape \(3,\), got \({length},"):
        domain.embed(np.ones(length), *([] if isinstance(domain, Ball) else [1.0]))


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, [0.5], np.ones((1, 1))], ids=repr)
def test_what_is_not_one_number_is_refused(bad: Any):
    with pytest.raises(BadInput):
        Interval().embed(bad)
    with pytest.raises(BadInput):
        Moments(2).embed(np.ones(2), bad)
    with pytest.raises(BadInput):
        Gradient(2).embed(np.ones(2), bad)


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, 1.0, np.ones((1, 2)), np.ones((2, 1))], ids=repr)
def test_what_is_not_a_vector_is_refused(bad: Any):
    for domain in (Ball(2), Moments(2), Gradient(2)):
        with pytest.raises(BadInput):
            domain.embed(bad, *([] if isinstance(domain, Ball) else [1.0]))


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("bad", ["1.5", b"1", np.datetime64("2020"), np.timedelta64(3), np.array(1j)], ids=repr)
def test_text_dates_and_complex_numbers_are_refused_too(bad: Any):
    with pytest.raises(BadInput):
        Interval().embed(bad)


def test_a_whole_number_beyond_every_float_is_refused():
    with pytest.raises(BadInput):
        Interval().embed(10**400)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Interval(1.0, 1.0),
        lambda: Interval(2.0, 1.0),
        lambda: Interval(0.0, math.inf),
        lambda: Interval(math.nan, 1.0),
        lambda: Ball(0),
        lambda: Ball(-1),
        lambda: Ball(2, 0.0),
        lambda: Ball(2, math.inf),
        lambda: Gradient(2, -1.0),
        lambda: Moments(2, math.nan),
        lambda: Moments(2, weight=0.0),
        lambda: Moments(1.5),  # pyright: ignore[reportArgumentType]
    ],
)
def test_a_domain_that_bounds_nothing_is_refused(build: Callable[[], Domain]):
    with pytest.raises(ConfigurationError, match="got"):
        build()


# --- what goes out ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", DOMAIN_EXAMPLES, ids=str)
@given(sample=st.data())
def test_every_embedded_message_is_in_its_domain(domain: Domain, sample: st.DataObject):
    message = embed(domain, sample.draw(data(domain)))
    assert message.shape == (size(domain),)
    assert domain.contains(message)


def test_huge_values_are_clipped_to_the_border():
    assert Interval(1.0, 5.0).embed(1e308) == 1.0
    assert Interval(1.0, 5.0).embed(-1e308) == -1.0
    np.testing.assert_allclose(Ball(2, 3.0).embed(np.array([0.0, -1e308])), [0.0, -3.0])
    np.testing.assert_allclose(Moments(2).embed(np.array([1e200, 0.0]), 1e200), [1.0, 0.0, 0.0, 1.0, 0.0])
    np.testing.assert_allclose(Gradient(2, 0.5).embed(np.array([1e160, 1e160]), -9e99), [-math.sqrt(0.125)] * 2)


@pytest.mark.parametrize("domain", DOMAIN_EXAMPLES, ids=str)
@settings(max_examples=25)
@given(sample=st.data())
def test_the_device_and_the_simulator_form_the_same_message(domain: Domain, sample: st.DataObject):
    datum = sample.draw(data(domain, st.floats(-1e3, 1e3)))
    with jax.enable_x64(True):
        simulated = embed(domain, tuple(jax.numpy.asarray(part) for part in datum))
        traced = TRACED(domain, tuple(datum))
    np.testing.assert_allclose(np.asarray(simulated), embed(domain, datum), atol=1e-12, rtol=0)
    np.testing.assert_allclose(np.asarray(traced), embed(domain, datum), atol=1e-12, rtol=0)


@given(st.floats(-2.0, 6.0))
def test_extract_gives_back_the_number(value: float):
    domain = Interval(-2.0, 6.0)
    assert float(domain.extract(domain.embed(value))) == pytest.approx(value, abs=1e-12)


@given(arrays(float, 3, elements=st.floats(-0.5, 0.5)), st.floats(-2.0, 2.0))
def test_extract_gives_back_the_moments(x: np.ndarray, y: float):
    domain = Moments(3, 2.0, 0.7)
    gram, moment = domain.extract(domain.embed(x, y))
    np.testing.assert_allclose(gram, np.outer(x, x), atol=1e-14)
    np.testing.assert_allclose(moment, y * x, atol=1e-14)


@given(arrays(float, 3, elements=st.floats(-0.5, 0.5)), st.floats(-2.0, 2.0), st.floats(-0.8, 0.8))
def test_extract_gives_back_the_three_messages(x: np.ndarray, residual: float, label: float):
    domain = Relabelled(3, 0.8, 2.0, 0.7)
    gram, labelled, gradient = domain.extract(domain.embed(x, residual, label))
    np.testing.assert_allclose(gram, np.outer(x, x), atol=1e-14)
    np.testing.assert_allclose(labelled, label * x, atol=1e-14)
    np.testing.assert_allclose(gradient, residual * x, atol=1e-14)


@given(arrays(float, 3, elements=st.floats(-0.2, 0.2)), st.floats(-0.5, 0.5))
def test_extract_gives_back_vectors_and_gradients(x: np.ndarray, residual: float):
    np.testing.assert_array_equal(Ball(3, 0.5).extract(Ball(3, 0.5).embed(x)), x)
    np.testing.assert_allclose(Gradient(3, 0.5).extract(Gradient(3, 0.5).embed(x, residual)), residual * x, atol=1e-15)


def outsiders() -> list[tuple[Domain, np.ndarray]]:
    """Messages that no embed of their domain would form."""
    two = Moments(2)
    first, second = two.embed(np.array([1.0, 0.0]), 1.0), two.embed(np.array([0.0, 1.0]), 1.0)
    three = Relabelled(2, 0.5)
    return [
        (Interval(), np.array([1.001])),
        (Interval(), np.array([math.nan])),
        (Ball(2), np.array([0.8, 0.8])),
        (Ball(2), np.array([0.0, math.nan])),
        (Gradient(2), np.array([-1.1, 0.0])),
        (Direction(2), np.array([0.8, 0.8, 0.2])),
        (Direction(2), np.array([0.6, 0.0, 0.21])),
        (Direction(2), np.array([0.6, math.nan, 0.2])),
        (two, np.full(5, math.nan)),
        (two, np.full(5, math.inf)),
        (two, (first + second) / 2),  # rank two
        (two, -first),  # x x' with a negative eigenvalue
        (two, 1.1 * first),
        (two, np.array([0.0, 0.0, 0.0, 1.0, 0.0])),  # y x without its x x'
        (two, np.array([1.0, 0.0, 0.0, 0.0, 1.0])),  # y x across x
        (two, np.array([0.25, 0.0, 0.0, 0.6, 0.0])),  # |y| above its bound
        (two, np.array([0.0, 1.0, 1.0, 1.0, 1.0]) / 2),  # the right norm only
        (three, np.array([1.0, 0.0, 0.0, 0.6, 0.0, 1.0, 0.0])),  # |z| above its bound
        (three, np.array([1.0, 0.0, 0.0, 0.5, 0.0, 0.0, 1.0])),  # r x across x
    ]


@pytest.mark.parametrize(("domain", "message"), outsiders(), ids=str)
def test_a_message_that_no_embed_would_form_does_not_pass_the_gate(domain: Domain, message: np.ndarray):
    assert not domain.contains(message)
    with pytest.raises(BadInput, match="outside"):
        privatise(calibrate("laplace", domain, Budget(1.0)), message)


def by_eigenvectors(domain: Moments, message: np.ndarray, room: float) -> bool:
    """The definition of `contains`: x x' has rank one and norm at most one, y x is along x and |y| within its bound."""
    gram, moment = domain.extract(message)
    values, vectors = np.linalg.eigh(gram)
    x = vectors[:, -1] * math.sqrt(max(values[-1], 0.0))
    y = float(moment @ x) / max(float(x @ x), 1e-300)
    y = max(-domain.reward_bound, min(domain.reward_bound, y))
    matrix = np.linalg.norm(gram - np.outer(x, x)) <= room and values[-1] <= 1 + room
    return bool(matrix and np.linalg.norm(moment - y * x) <= room * domain.reward_bound)


@pytest.mark.parametrize("dimension", [1, 2, 3, 6])
@given(sample=st.data())
@settings(max_examples=200)
def test_a_message_near_the_domain_is_judged_as_its_eigenvectors_would(dimension: int, sample: st.DataObject):
    """Messages off by much less than what is let pass up to far more, in any direction."""
    domain = Moments(dimension, 2.0, 0.7)
    x = sample.draw(arrays(float, dimension, elements=st.floats(-1.5, 1.5)))
    message = domain.embed(x, sample.draw(st.floats(-3.0, 3.0)))
    away = sample.draw(arrays(float, size(domain), elements=st.floats(-1.0, 1.0)))
    message = message + away * 10.0 ** sample.draw(st.floats(-12.0, 0.0))
    found = domain.contains(message)
    if np.linalg.norm(x) > 0.1 and by_eigenvectors(domain, message, ROUNDING / 100):
        assert found
    if not by_eigenvectors(domain, message, 3 * ROUNDING):
        assert not found


def test_what_contains_lets_pass_is_less_than_what_calibration_leaves_room_for():
    domain = Moments(1)
    mechanism = gaussian(domain, Budget(12.0, 1e-5))
    beyond = np.array([0.0, 9e-10])
    here, there = domain.embed(np.ones(1), 1.0) + beyond, domain.embed(np.ones(1), -1.0) - beyond
    assert domain.contains(here)
    assert domain.contains(there)
    distance = np.linalg.norm((here - there) / np.array(mechanism.scales)[[0, 2]])
    rounding = math.sqrt(size(domain)) / RESOLUTION  # half a step for each message and coordinate
    promised = domain.l2(mechanism.scales) + 2 * rounding
    assert distance + rounding <= promised


def test_every_domain_of_the_registry_is_tested_here():
    assert {type(domain) for domain in DOMAIN_EXAMPLES} == set(DOMAINS.values())
