"""The public codebook: the same integers on every machine, and directions as even as the calibration supposes."""

import math

import numpy as np
import pytest
from gates import ALARM, SeededEntropy
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sottovoce import Ball, Budget
from sottovoce.privacy.sphere.codebook import (
    COIN_BYTES,
    FAR_OUT,
    FIXED_POINT,
    NORMAL,
    OUTER_STREAM,
    candidates,
    lift,
    pairs,
    ranking,
    scores,
)
from sottovoce.privacy.sphere.mechanism import Sphere, sphere, sphere_mean
from sottovoce.privacy.threefry import threefry


@pytest.mark.parametrize(
    ("key", "counter", "output"),
    [
        ((0, 0), (0, 0), ("6b200159", "99ba4efe")),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), ("1cb996fc", "bb002be7")),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), ("c4923a9c", "483df7a0")),
    ],
)
def test_threefry_gives_the_known_answers_of_random123(
    key: tuple[int, int], counter: tuple[int, int], output: tuple[str, str]
):
    words = threefry(np.array(key, np.uint32), *np.array(counter, np.uint32)[:, None])
    assert tuple(f"{int(word[0]):08x}" for word in words) == output


def test_the_normal_table_holds_the_means_of_256_equal_bins_at_unit_variance():
    edges = stats.norm.ppf(np.linspace(0, 1, 257))
    means = -256 * np.diff(stats.norm.pdf(edges))
    expected = np.rint(1024 * means / math.sqrt(np.mean(means**2)))
    np.testing.assert_array_equal(NORMAL, expected)
    assert np.all(NORMAL + NORMAL[::-1] == 0)
    assert 0 not in NORMAL


def test_an_outermost_byte_is_refined_by_a_second_one():
    """Sixteen bits of tail: bins of probability 2^-16, their mean the outermost entry of the table."""
    edges = stats.norm.isf(np.linspace(1 / 256, 0, 257))
    scale = 1024 / math.sqrt(np.mean((-256 * np.diff(stats.norm.pdf(stats.norm.ppf(np.linspace(0, 1, 257))))) ** 2))
    expected = np.rint(-65536 * np.diff(stats.norm.pdf(edges)) * scale)
    np.testing.assert_array_equal(FAR_OUT, expected)
    assert abs(expected.mean() - NORMAL[255]) < 1
    book = pairs(bytes(12), np.arange(4096), 16)
    rows, columns = np.nonzero(np.abs(book) >= 2726)
    counters, stream = (rows * 16 + columns).astype(np.uint32), np.full(len(rows), OUTER_STREAM, np.uint32)
    fine, _ = threefry((np.uint32(0), np.uint32(0)), counters, stream)
    np.testing.assert_array_equal(np.abs(book[rows, columns]), expected[fine & 255])
    assert len(set(np.sign(book[rows, columns]))) == 2
    assert np.sum(np.abs(book) >= 2726) == pytest.approx(4096 * 16 / 128, rel=0.2)
    assert book.max() > 4000


@pytest.mark.parametrize(("dimension", "epsilon"), [(20, 8.0), (20, 12.0), (65, 8.0)])
def test_a_message_along_an_axis_keeps_its_length_at_large_epsilon(dimension: int, epsilon: float):
    """Fixed seeds; five deviations of the mean. Without the second byte (20, 12) is more than that too short."""
    mechanism = sphere(Ball(dimension), Budget(epsilon))
    weights = np.where(np.arange(mechanism.candidates) < mechanism.cap, mechanism.inside, mechanism.outside)
    axis = lift(np.eye(dimension)[0], 1.0)
    rng = np.random.default_rng(0)
    sent = [np.sort(scores(rng.bytes(COIN_BYTES), axis, mechanism.candidates))[::-1] for _ in range(100)]
    lengths = np.array(sent) @ (weights / weights.sum()) / np.linalg.norm(axis) / mechanism.mean
    assert abs(lengths.mean() - 1) < 5 * lengths.std() / math.sqrt(100)


@given(st.binary(min_size=COIN_BYTES, max_size=COIN_BYTES), st.integers(0, 255), st.integers(1, 40))
def test_the_server_regenerates_one_candidate_as_the_device_saw_it(coin: bytes, index: int, dimension: int):
    book = candidates(coin, np.arange(256), dimension)
    np.testing.assert_array_equal(candidates(coin, np.array([index]), dimension)[0], book[index])


def test_a_candidate_is_read_byte_by_byte_from_its_own_counters():
    coin = bytes(range(12))
    row, opposite = candidates(coin, np.array([6, 7]), 11)
    octets = b""
    for block in (6, 7):  # two blocks of eight bytes a pair
        key, counter = np.array([0x00010203, 0x04050607], np.uint32), np.array([[block], [0x08090A0B]], np.uint32)
        x, y = threefry(key, *counter)
        octets += int(x[0]).to_bytes(4, "little") + int(y[0]).to_bytes(4, "little")
    assert row.tolist() == [int(NORMAL[octet]) for octet in octets[:11]]
    assert opposite.tolist() == [-number for number in row]


def test_candidates_of_one_coin_do_not_repeat_and_another_coin_has_others():
    book = candidates(bytes(12), np.arange(4096), 20)
    assert len(np.unique(book, axis=0)) == 4096
    assert not np.any(np.all(book == candidates(bytes(11) + b"\1", np.arange(4096), 20), axis=1))


def test_the_ranking_is_by_score_and_ties_go_to_the_smaller_index():
    coin = bytes(range(12))
    order = ranking(coin, np.array([3, -5, 2]), 256)
    ranked = scores(coin, np.array([3, -5, 2]), 256)[order]
    assert sorted(order.tolist()) == list(range(256))
    assert np.all(np.diff(ranked) <= 0)
    np.testing.assert_array_equal(ranking(coin, np.zeros(3, np.int64), 256), np.arange(256))
    assert (order[::-1] ^ 1).tolist() == order.tolist()  # the opposite of the nearest is the farthest, and so on
    one = ranking(coin, np.array([FIXED_POINT]), 256)  # in one dimension every score is +-1
    signs = np.sign(candidates(coin, np.arange(256), 1)[:, 0])
    np.testing.assert_array_equal(one, np.concatenate([np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)]))


@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=6), st.floats(0.1, 10.0))
def test_a_lifted_message_is_on_the_sphere(numbers: list[float], radius: float):
    message = Ball(len(numbers), radius).embed(np.array(numbers))
    lifted = lift(message, radius)
    assert lifted[-1] >= 0
    assert np.linalg.norm(lifted) == pytest.approx(FIXED_POINT, abs=math.sqrt(len(lifted)))
    np.testing.assert_allclose(lifted[:-1] / FIXED_POINT, message / radius, atol=0.5 / FIXED_POINT + 1e-12)


DIRECTIONS = {
    "an axis": np.array([1.0, 0, 0, 0, 0]),
    "the slack": np.array([0.0, 0, 0, 0, 0]),
    "a diagonal": np.array([-1.0, 1, 0, 0, 0]) / math.sqrt(2),
    "dense": np.array([0.48, -0.36, 0.4, 0.52, -0.46]),
}


def mean_inner_products(mechanism: Sphere, message: np.ndarray, entropy: SeededEntropy, seeds: int) -> np.ndarray:
    """For each of many seeds, the mean over the index of <candidate sent, message>."""
    lifted = lift(message, mechanism.domain.radius)
    weights = np.full(mechanism.candidates, mechanism.outside, dtype=float)
    weights[: mechanism.cap] = mechanism.inside
    books = (np.sort(scores(entropy.octets(COIN_BYTES), lifted, mechanism.candidates))[::-1] for _ in range(seeds))
    return np.array([book @ weights for book in books]) / np.sum(weights) / np.linalg.norm(lifted)


@pytest.mark.parametrize("direction", list(DIRECTIONS))
@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_the_codebook_is_equally_near_to_every_direction(direction: str, epsilon: float, entropy: SeededEntropy):
    mechanism = sphere(Ball(5), Budget(epsilon))
    means = mean_inner_products(mechanism, DIRECTIONS[direction], entropy, 500)
    error = stats.norm.isf(ALARM / 2) * np.std(means) / math.sqrt(len(means))

    def agrees(expected: float) -> bool:
        return abs(np.mean(means) - expected) <= error + 0.002 * expected  # the table's bias is below 0.2 %

    assert agrees(mechanism.mean)
    ratio = mechanism.inside / mechanism.outside
    assert mechanism.mean == sphere_mean(6, mechanism.candidates, mechanism.cap, ratio)
    assert not agrees(sphere_mean(6, mechanism.candidates, mechanism.cap, ratio / 2))
    assert not agrees(sphere_mean(6, mechanism.candidates, mechanism.cap, ratio * 2))
