"""Entries of docs/errata.md about context-free bandits: Theorems 1, 3, 11 and 12, and Corollary 4.

Deterministic. Symbols are the paper's. A test that runs no code of the product says "Arithmetic".
"""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from sottovoce import Budget, Interval, halves, noise_of, task
from sottovoce.learners.arms.tsallis_inf import TsallisInf, tsallis_weights
from sottovoce.learners.convex.one_point import scales_of
from sottovoce.learners.convex.pyramid import Pyramid
from sottovoce.privacy.grid.calibrate import classical_gaussian
from sottovoce.sim.random import simulation_key

DELTA = 1e-5


def test_the_factors_of_the_streaming_proof_do_not_cancel_but_the_theorem_holds():
    """Arithmetic. Two rounds. z_1 of three values; the action of round 2, and so z_2, depends on z_1."""
    first = {"h": np.array([0.50, 0.30, 0.20]), "h'": np.array([0.25, 0.50, 0.25])}
    second = np.array([0.8, 0.2, 0.5])  # P(z_2 = 1 | z_1), the same for both sequences
    later = {h: float(p[:2] @ second[:2] / p[:2].sum()) for h, p in first.items()}  # given z_1 in {0, 1}
    assert later["h"] == pytest.approx(0.575)
    assert later["h'"] == pytest.approx(0.4)  # the proof says: the same

    epsilon = float(np.max(np.abs(np.log(first["h"] / first["h'"]))))
    joint = {h: np.concatenate([p * second, p * (1 - second)]) for h, p in first.items()}
    for chosen in itertools.product([False, True], repeat=6):
        here, there = (float(joint[h][list(chosen)].sum()) for h in ("h", "h'"))
        assert here <= math.exp(epsilon) * there + 1e-12
        assert there <= math.exp(epsilon) * here + 1e-12


# --- Theorem 3 -------------------------------------------------------------------------------------------------------


def regret_bound(name: str, preset: str, epsilon: float) -> float:
    """The black box's bound on the regret with the constants that its learner runs with.

    C is what the learner takes an observation to be bounded by. With preset `paper` the range of the losses is C too,
    as in the reduction; else it is what it was, because noise that all points share cancels in a difference of losses.
    """
    contract = task(name, preset, dimension=2, rounds=10**24, epsilon=epsilon)
    learner, _, mechanism = halves(contract)
    scales, region, rounds, d = scales_of(contract, noise_of(mechanism)), learner.region, contract.rounds, 2
    logarithm, swing = math.log(rounds), d * scales.bound / learner.explore
    if name in ("fkm", "agarwal-dekel-xiao"):
        half = scales.bound if preset == "paper" else scales.half
        bias = scales._replace(half=half).bias(region) * learner.explore * rounds
        if name == "fkm":
            return region.outer**2 / (2 * learner.rate) + learner.rate * rounds * swing**2 / 2 + bias
        return swing**2 * (1 + logarithm) / (2 * learner.strength) + bias
    smoothness = float(contract.tuning["smoothness"])
    condition = region.nu + (2 * smoothness / learner.strength if name == "hazan-levy" else 0.0)
    bias = rounds * smoothness * region.outer**2 * learner.explore**2 if name == "saha-tewari" else 0.0
    return condition * logarithm / learner.rate + 2 * learner.rate * rounds * swing**2 + bias


def growth(name: str, preset: str) -> float:
    """The exponent of 1/epsilon in the bound, where epsilon is small."""
    return math.log(regret_bound(name, preset, 0.001) / regret_bound(name, preset, 0.1)) / math.log(100)


@pytest.mark.parametrize(
    ("name", "exponent"), [("fkm", 1.0), ("saha-tewari", 2 / 3), ("agarwal-dekel-xiao", 4 / 3), ("hazan-levy", 1.0)]
)
def test_one_black_box_of_the_reduction_is_not_linear_in_the_range(name: str, exponent: float):
    """Theorem 3 takes B * Reg for the regret at range B; its premise is that no other constant is with B in Reg."""
    assert growth(name, "paper") == pytest.approx(exponent, abs=0.02)


@pytest.mark.parametrize(
    ("name", "exponent"), [("fkm", 1 / 2), ("saha-tewari", 2 / 3), ("agarwal-dekel-xiao", 2 / 3), ("hazan-levy", 1.0)]
)
def test_regret_grows_more_slowly_in_one_over_epsilon_than_the_reduction_says(name: str, exponent: float):
    """Tuned for the variance of the noise. The paper has 1 in all four rows."""
    assert growth(name, "laplace") == pytest.approx(exponent, abs=0.02)


def test_stochastic_convex_bandits_by_pyramids_compare_nothing_before_a_million_billion_answers():
    """No two points differ by more than the range. The smallest margin of a test is slack + 3 times gamma-hat."""
    for private, answers in ((True, 1e17), (False, 1e15)):
        learner = halves(task("pyramid", "paper", dimension=2, rounds=10**9, epsilon=1.0), private=private).learner
        assert isinstance(learner, Pyramid)
        finest = learner.range / (learner.slack + 3)
        assert learner.answers / finest**2 > answers  # at each point, before anything can be cut off


# --- Theorems 11 and 12 ----------------------------------------------------------------------------------------------


def test_the_stability_condition_of_tsallis_inf_fails_with_gaussian_noise():
    """Zimmert and Seldin need eta_t * estimate * sqrt(w) >= -1.

    Two arms, gap 0.2, after 10,000 rounds in which the estimates were right; the worse arm is played.
    """
    rounds = 10_000
    rate = 2 / math.sqrt(rounds)
    with jax.enable_x64(True):
        losses = jnp.array([0.5, 0.7]) * rounds
        weights, guess = tsallis_weights(losses, jnp.asarray(rate), jnp.asarray(0.5 * rounds - 2 / rate))
        weights, _ = tsallis_weights(losses, jnp.asarray(rate), guess)
    smallest = -math.sqrt(float(weights[1])) / rate  # the loss itself that violates the condition
    assert stats.norm.cdf(smallest, loc=0.7, scale=classical_gaussian(Budget(1.0, DELTA))) > 0.2


@pytest.mark.parametrize("preset", ["paper", "importance-weighted"])
def test_our_tsallis_inf_never_hears_a_negative_loss(preset: str):
    """Whatever is reported, the loss above the least one is not negative: the published theorem applies."""
    contract = task("tsallis-inf", preset, arms=2, rounds=10_000, epsilon=1.0)
    learner, _, mechanism = halves(contract)
    assert isinstance(learner, TsallisInf)
    state = learner.init()
    memo = learner.ask(state, simulation_key(0)).memo
    largest = min(noise_of(mechanism).bound, 1e6)
    tell = jax.jit(learner.tell)
    for reward in (0.5 - largest, 0.5 + largest):
        heard = tell(state, memo, jnp.asarray(reward)).losses - memo.baseline
        assert np.all(heard >= -1e-4)
        assert np.max(heard) * memo.weight <= 2 * learner.reach * 1.001


def test_the_sample_complexity_of_the_best_arm_sums_over_the_best_and_leaves_the_worst_out():
    """Arithmetic. The appendix orders the mean losses mu_1 > ... > mu_d and has Delta_i = mu_i - mu_d."""
    losses = np.array([0.9, 0.5, 0.2])
    gaps = losses - losses[-1]
    assert np.min(gaps[1:]) == 0  # Theorem 12: the sum over k != 1 divides by the gap of the best arm, d
    assert np.min(gaps[:-1]) > 0  # k != d is meant


def test_losses_between_zero_and_one_are_not_bounded_by_one_half_but_their_range_is_right():
    """B = 0.5 gives Theorems 11 and 12 the noise that losses in [0, 1] need."""
    domain = Interval(0.0, 1.0)
    assert domain.half == 0.5
    assert float((domain.embed(1.0) - domain.embed(0.0))[0]) * domain.half == 2 * 0.5
