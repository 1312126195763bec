"""The shuffler: against brute force, against published numbers, and the properties a promise must have."""

import json
import math
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sottovoce.lab.binomial import half_tail, log_binomial
from sottovoce.lab.shuffling import closed_form, shuffled_delta, shuffled_epsilon
from sottovoce.protocol.errors import ConfigurationError

LOCAL = st.floats(0.05, 6.0)
PEOPLE = st.integers(1, 10**7)
DELTA = st.sampled_from([1e-12, 1e-9, 1e-6, 1e-3, 0.1])


def brute_force(epsilon: float, people: int, lower: float, chance: float) -> float:
    """The hockey-stick divergence of the clone pair, by listing every outcome (C, number from Q0)."""
    p = math.exp(epsilon)
    total = 0.0
    for clones in range(people):
        for first in range(clones + 2):
            one, other = (
                sum(
                    stats.binom.pmf(clones, people - 1, chance) * stats.binom.pmf(first - own, clones, 0.5) * weight
                    for own, weight in ((1, keep), (0, 1 - keep))
                )
                for keep in (p / (p + 1), 1 / (p + 1))
            )
            total += max(0.0, one - math.exp(lower) * other)
    return total


@pytest.mark.parametrize(("epsilon", "people", "share"), [(0.3, 2, 0.5), (1.0, 9, 0.2), (2.5, 30, 0.6), (4.0, 25, 0.0)])
@pytest.mark.parametrize("bits", [False, True])
def test_the_cost_is_the_divergence_of_the_clone_pair(epsilon: float, people: int, share: float, bits: bool):
    chance = 2 / (math.exp(epsilon) + 1) if bits else math.exp(-epsilon)
    exact = brute_force(epsilon, people, share * epsilon, chance)
    assert shuffled_delta(epsilon, people, share * epsilon, bits=bits) == pytest.approx(exact, rel=1e-7, abs=1e-15)


def shuffled_bits(answers: tuple[int, ...], epsilon: float) -> np.ndarray:
    """The law of the number of ones among randomised bits: all that a shuffler leaves of them."""
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    law = np.ones(1)
    for answer in answers:
        one = truth if answer else 1 - truth
        law = np.convolve(law, [1 - one, one])
    return law


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_no_attack_on_shuffled_bits_beats_the_promise(epsilon: float):
    """Every data set of the others; the promise for bits is the tighter one, so it is the one to attack."""
    people = 7
    for lower in (0.0, 0.3 * epsilon, 0.8 * epsilon):
        promised = shuffled_delta(epsilon, people, lower, bits=True)
        attacks = []
        for ones, mine in product(range(people), (0, 1)):
            others = (1,) * ones + (0,) * (people - 1 - ones)
            law, other = (shuffled_bits((*others, bit), epsilon) for bit in (mine, 1 - mine))
            attacks.append(np.sum(np.maximum(law - math.exp(lower) * other, 0.0)))
        assert max(attacks) <= promised * (1 + 1e-12)
        assert max(attacks) >= 0.05 * promised  # the promise is about something
        assert promised <= shuffled_delta(epsilon, people, lower)


def test_the_published_example_is_met():
    """The README of apple/ml-shuffling-amplification: between these two; their closed form is an earlier one."""
    assert 0.1675385583317841 <= shuffled_epsilon(4.0, 10**5, 1e-6) <= 0.172790550755978
    assert closed_form(4.0, 10**5, 1e-6) == pytest.approx(0.5378040242374512, rel=0.01)


@settings(max_examples=25, deadline=None)
@given(LOCAL, PEOPLE, DELTA, st.booleans())
def test_shuffling_never_costs_and_the_closed_form_is_never_better(epsilon, people, delta, bits):
    shuffled = shuffled_epsilon(epsilon, people, delta, bits=bits)
    assert 0 <= shuffled <= closed_form(epsilon, people, delta) <= epsilon
    assert shuffled_delta(epsilon, people, shuffled, bits=bits) <= delta
    if shuffled > 1e-6:
        assert shuffled_delta(epsilon, people, shuffled * (1 - 1e-6), bits=bits) > delta or shuffled == epsilon
    other = shuffled_epsilon(epsilon, people, delta, bits=not bits)
    assert (shuffled <= other) if bits else (other <= shuffled)


@settings(max_examples=12, deadline=None)
@given(LOCAL, st.integers(1, 10**6), DELTA, st.booleans())
def test_more_people_more_delta_and_less_local_epsilon_all_help(epsilon, people, delta, bits):
    def shuffled(epsilon: float, people: int, delta: float) -> float:
        return shuffled_epsilon(epsilon, people, delta, bits=bits) * (1 - 1e-6)

    now = shuffled_epsilon(epsilon, people, delta, bits=bits)
    assert shuffled(epsilon, 2 * people, delta) <= now
    assert shuffled(epsilon, people, min(2 * delta, 0.5)) <= now
    assert shuffled(0.9 * epsilon, people, delta) <= now


def test_too_few_people_leave_the_local_promise():
    assert closed_form(1.0, 100, 1e-6) == 1.0
    assert shuffled_epsilon(1.0, 1, 1e-9) == pytest.approx(1.0, abs=1e-8)
    assert shuffled_epsilon(8.0, 100, 1e-12) == pytest.approx(8.0, rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0.0, 10, 1e-6), "epsilon must be positive"),
        ((math.nan, 10, 1e-6), "epsilon must be positive"),
        ((1.0, 0, 1e-6), "at least 1, got 0"),
        ((1.0, 10, 0.0), "no shuffler gives a pure promise"),
        ((1.0, 10, 1.5), "delta must be between 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused_in_words(arguments: tuple, words: str):
    for function in (shuffled_epsilon, closed_form):
        with pytest.raises(ConfigurationError, match=words):
            function(*arguments)


def test_binomials_and_their_tails_are_right_far_out():
    trials = np.array([1.0, 2.0, 31.0, 32.0, 1000.0, 1e6, 1e8])
    for z in (0.6, 3.0, 8.0):
        least = np.minimum(np.floor(trials / 2 + z * np.sqrt(trials) / 2) + 1, trials)
        np.testing.assert_allclose(half_tail(trials, least), stats.binom.sf(least - 1, trials, 0.5), rtol=1e-10)
        np.testing.assert_allclose(np.exp(log_binomial(trials, least, 0.5)), stats.binom.pmf(least, trials, 0.5), 1e-10)
    hits = np.arange(51.0)
    np.testing.assert_allclose(np.exp(log_binomial(50, hits, 0.03)), stats.binom.pmf(hits, 50, 0.03), rtol=1e-11)
    assert half_tail(5.0, 6.0) == 0.0


def test_the_pairs_of_blocks_only_overstate():
    """More clones never cost more, which is what lets a block be counted at its smallest."""
    from sottovoce.lab.shuffling import _divergence

    costs = _divergence(np.arange(2000.0), 3.0, 0.4)
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(costs))


def test_the_command_prints_and_writes_what_the_functions_say(tmp_path: Path):
    import typer
    from typer.testing import CliRunner

    from sottovoce.cli.shuffle import shuffle

    app = typer.Typer()
    app.command()(shuffle)
    done = CliRunner().invoke(app, ["--epsilon", "1", "--people", "10000", "--json", str(tmp_path / "s.json")])
    assert done.exit_code == 0, done.output
    (row,) = json.loads((tmp_path / "s.json").read_text())["rows"]
    assert row["shuffled"] == shuffled_epsilon(1.0, 10_000, 1e-6)
    assert row["shuffled_bits"] == shuffled_epsilon(1.0, 10_000, 1e-6, bits=True)
    assert "10,000" in done.output
    assert "0.05301" in done.output
