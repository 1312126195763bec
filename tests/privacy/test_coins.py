"""The coin of a report: epsilon holds whatever it is, and the server's estimate is right on average."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce import Ball, Budget, privatise
from sottovoce.privacy.sphere.codebook import COIN_BYTES, candidates, lift, ranking
from sottovoce.privacy.sphere.mechanism import Sphere, sphere
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.permits import coin_of, commitment_of, report_id
from sottovoce.server.web.permits import PermitOffice

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "permits.json").read_text("utf-8"))


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["what"])
def test_a_nonce_and_a_permit_give_the_coin_and_the_candidates_written_down(case: dict[str, Any]):
    """Written down for other languages: text is base64url as it travels, the rest is hexadecimal."""
    nonce, permit, server = from_text(case["nonce"]), from_text(case["permit"]), case["server"]
    assert to_text(commitment_of(nonce)) == case["commitment"]
    assert report_id(commitment_of(nonce)).hex() == case["report_id"]
    assert coin_of(permit, nonce).hex() == case["coin"]
    vectors = case["candidates"]
    coin = bytes.fromhex(case["coin"])[:COIN_BYTES]
    assert candidates(coin, np.arange(len(vectors)), len(vectors[0])).tolist() == vectors
    office, memo = PermitOffice(bytes.fromhex(server["key"]), server["task"]), bytes.fromhex(server["memo"])
    assert office.issue(commitment_of(nonce), server["expires"], memo) == case["permit"]
    shown = office.read(case["permit"], case["nonce"])
    assert shown == (bytes.fromhex(case["report_id"]), server["expires"], memo, bytes.fromhex(case["coin"]))


# --- epsilon, for every coin -----------------------------------------------------------------------------------------


class Given:
    """Entropy whose one draw is this number."""

    def __init__(self, number: int, bound: int) -> None:
        self._number, self._bound = number, bound

    def below(self, bound: int) -> int:
        assert bound == self._bound
        return self._number

    def octets(self, count: int) -> bytes:
        raise AssertionError("the coin is tossed together")


def probabilities(mechanism: Sphere, message: np.ndarray, coin: bytes) -> list[Fraction]:
    """Of each index, exactly: a rank takes as many draws as its weight, from the first to the last of its block."""
    weights = [mechanism.inside if rank < mechanism.cap else mechanism.outside for rank in range(mechanism.candidates)]
    total, start = sum(weights), 0
    found = [Fraction(0)] * mechanism.candidates
    for weight in weights:
        first, last = (
            privatise(mechanism, message, Given(number, total), coin) for number in (start, start + weight - 1)
        )
        assert first == last
        assert first[:-1] == coin
        found[first[-1]] += Fraction(weight, total)
        start += weight
    assert sum(found) == 1
    return found


def messages(dimension: int) -> list[np.ndarray]:
    """The middle, both ends of two axes, and a few between."""
    axes = np.eye(dimension)[:2]
    between = np.random.default_rng(7).normal(size=(2, dimension))
    between /= np.linalg.norm(between, axis=1, keepdims=True)
    return [np.zeros(dimension), *axes, *-axes, *between, between[0] * 0.3]


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@settings(max_examples=12, deadline=None)
@given(coin=st.binary(min_size=COIN_BYTES, max_size=COIN_BYTES), dimension=st.sampled_from([1, 2, 5]))
def test_whatever_the_coin_two_people_differ_by_at_most_epsilon(epsilon: float, coin: bytes, dimension: int):
    mechanism = sphere(Ball(dimension), Budget(epsilon))
    found = [probabilities(mechanism, message, coin) for message in messages(dimension)]
    worst = max(max(column) / min(column) for column in zip(*found, strict=True))
    assert worst <= Fraction(mechanism.inside, mechanism.outside) < Fraction(math.exp(epsilon))


def test_a_coin_that_the_server_chose_asks_a_sharper_question_within_the_same_epsilon():
    """It takes a coin that separates two near people: it gains the question, and not a bit of epsilon."""
    mechanism, angle = sphere(Ball(2), Budget(1.0)), math.radians(20)
    near = [np.array([1.0, 0.0]), np.array([math.cos(angle), math.sin(angle)])]
    first, second = (lift(message, 1.0) for message in near)
    coins = [np.random.default_rng(seed).bytes(COIN_BYTES) for seed in range(1000)]
    separating = [c for c in coins if ranking(c, first, 2)[0] != ranking(c, second, 2)[0]]
    assert 0.08 < len(separating) / len(coins) < 0.14  # 20 of 180 degrees
    worst = [max(p / q for p, q in zip(*both, strict=True)) for both in map(_both(mechanism, near), separating[:5])]
    assert set(worst) == {Fraction(mechanism.inside, mechanism.outside)}


def _both(mechanism: Sphere, people: list[np.ndarray]) -> Any:
    return lambda coin: [probabilities(mechanism, person, coin) for person in people]


# --- one pair --------------------------------------------------------------------------------------------------------

COINS = 40_000


@pytest.mark.parametrize("length", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("dimension", [2, 3, 5, 10, 21])
def test_one_pair_is_right_on_average(dimension: int, length: float):
    """The mean over the index is exact; over many coins it is within six standard errors in every coordinate.

    False alarms below 2e-9 a coordinate, 3e-7 for all. A scale that is a twentieth off is seen.
    """
    mechanism, draw = sphere(Ball(dimension), Budget(1.0)), np.random.default_rng(dimension)
    assert (mechanism.candidates, mechanism.cap) == (2, 1)
    direction = draw.normal(size=dimension)
    message = length * direction / np.linalg.norm(direction)
    joined, lifted = draw.bytes(COINS * COIN_BYTES), lift(message, 1.0)
    coins = [joined[start : start + COIN_BYTES] for start in range(0, len(joined), COIN_BYTES)]
    scores = candidates(joined, np.zeros(COINS, dtype=np.int64), dimension + 1) @ lifted
    nearest = np.where(scores >= 0, 0, 1)
    assert [int(ranking(coin, lifted, 2)[0]) for coin in coins[:50]] == nearest[:50].tolist()
    more, less = (
        Fraction(weight, mechanism.inside + mechanism.outside) for weight in (mechanism.inside, mechanism.outside)
    )
    estimates = sum(
        float(share) * mechanism.decode([coin + bytes([index]) for coin, index in zip(coins, sent, strict=True)])
        for share, sent in ((more, nearest), (less, 1 - nearest))
    )
    assert right_on_average(estimates, message)
    if length == 1.0:
        assert not right_on_average(estimates * 1.05, message)


def right_on_average(estimates: np.ndarray, message: np.ndarray) -> bool:
    """In every coordinate, and along the message."""
    seen = np.column_stack([estimates, estimates @ message])
    error = seen.std(axis=0) / math.sqrt(len(seen))
    return bool(np.all(np.abs(seen.mean(axis=0) - [*message, message @ message]) <= 6 * error + 1e-12))
