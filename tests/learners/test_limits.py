"""Zero noise gives back the published, non-private algorithms: exactly, against references written independently."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from catalogue import ready
from sottovoce.learners.arms.tsallis_inf import tsallis_weights
from sottovoce.learners.linalg import inverse
from sottovoce.privacy.domains import MomentEstimate
from sottovoce.sim.random import simulation_key
from sottovoce.sim.run import simulate


def compiled(learner: Any) -> tuple[Callable[[Any, int], Any], Callable[..., Any], Any]:
    """Ask with a key made of a number, tell, and the first state."""
    ask = jax.jit(lambda state, number: learner.ask(state, simulation_key(number)))
    return ask, jax.jit(learner.tell), jax.jit(learner.init)()


def weights_by_bisection(losses: np.ndarray, rate: float) -> np.ndarray:
    low, high = losses.min() - 2 * math.sqrt(len(losses)) / rate - 1, losses.min() - 2 / rate
    for _ in range(200):
        x = (low + high) / 2
        if np.sum(4 / (rate * (losses - x)) ** 2) > 1:
            high = x
        else:
            low = x
    weights = 4 / (rate * (losses - x)) ** 2
    return weights / weights.sum()


@pytest.mark.parametrize("estimator", ["iw", "rv"])
def test_tsallis_inf_without_noise_is_the_published_algorithm(estimator: str):
    """Zimmert and Seldin 2021, both estimators, from the formulas of the paper; 500 rounds of given losses."""
    preset = "practical" if estimator == "rv" else "importance-weighted"
    learner = ready("tsallis-inf", preset, private=False).learner
    rng = np.random.default_rng(0)
    total = np.zeros(4)
    with jax.enable_x64(True):
        ask, tell, state = compiled(learner)
        for t in range(1, 501):
            rate = (4 if estimator == "rv" else 2) / math.sqrt(t)
            weights = weights_by_bisection(total, rate)
            np.testing.assert_allclose(state.weights, weights, rtol=1e-6, atol=1e-9)
            offer = ask(state, t)
            arm, loss = int(offer.memo.arm), float(rng.random() < 0.5)
            baseline = np.where(weights >= rate**2, 0.5, 0.0) if estimator == "rv" else np.zeros(4)
            total += baseline
            total[arm] += (loss - baseline[arm]) / weights[arm]
            state = tell(state, offer.memo, 1 - loss)


def test_tsallis_weights_are_right_from_any_guess():
    rng, solve = np.random.default_rng(1), jax.jit(tsallis_weights)
    with jax.enable_x64(True):
        for arms in (2, 10, 100):
            losses = jnp.asarray(rng.exponential(20.0, arms))
            right = jnp.min(losses) - 2 / 0.1
            guess = right - rng.uniform(0, 5)
            _, nearer = solve(losses, 0.1, guess)
            weights, _ = solve(losses, 0.1, nearer)
            np.testing.assert_allclose(weights, weights_by_bisection(np.array(losses), 0.1), rtol=1e-8)


def test_kl_ucb_without_noise_plays_the_largest_kl_index():
    learner = ready("kl-ucb", private=False).learner
    rng = np.random.default_rng(0)
    pulls, rewards = np.zeros(4), np.zeros(4)

    def index(arm: int) -> float:
        mean, level = rewards[arm] / pulls[arm], math.log(pulls.sum()) / pulls[arm]
        low, high = mean, 1.0
        for _ in range(60):
            q = (low + high) / 2
            divergence = sum(a * math.log(a / b) for a, b in ((mean, q), (1 - mean, 1 - q)) if a > 0)
            low, high = (q, high) if divergence <= level else (low, q)
        return low

    with jax.enable_x64(True):
        ask, tell, state = compiled(learner)
        for t in range(300):
            arm = int(ask(state, t).memo)
            if np.all(pulls > 0):
                assert index(arm) >= max(index(other) for other in range(4)) - 1e-6
            reward = float(rng.random() < 0.7 - 0.1 * arm)
            state = tell(state, arm, reward)
            pulls[arm] += 1
            rewards[arm] += reward


def test_thompson_without_noise_is_the_beta_posterior():
    learner = ready("thompson", private=False).learner
    with jax.enable_x64(True):
        state = learner.init()
        for reward in (1.0, 0.0, 0.0, 0.75):
            state = learner.tell(state, jnp.asarray(2), jnp.asarray(reward))
    np.testing.assert_allclose(state.counts[2], [1.75, 2.25])  # successes and failures, the last one shared
    assert np.all(np.array(state.counts)[[0, 1, 3]] == 0)


@pytest.mark.parametrize("preset", ["paper", "practical"])
def test_linucb_without_noise_is_ridge_regression(preset: str):
    learner = ready("linucb", preset, private=False).learner
    rng = np.random.default_rng(0)
    gram, moment = np.zeros((3, 3)), np.zeros(3)
    with jax.enable_x64(True):
        _, tell, state = compiled(learner)
        for _ in range(50):
            x = rng.standard_normal(3) / 3
            y = float(rng.choice([-1, 1]))
            gram += np.outer(x, x)
            moment += y * x
            state = tell(state, (), MomentEstimate(np.outer(x, x), y * x))
        model = jax.jit(learner.refresh)(state).model
    np.testing.assert_allclose(model.theta, np.linalg.solve(gram + np.eye(3), moment), rtol=1e-10)
    np.testing.assert_allclose(model.precision, np.linalg.inv(gram + np.eye(3)), rtol=1e-10)


@pytest.mark.parametrize("name", ["tsallis-inf", "kl-ucb", "linucb"])
def test_a_very_large_budget_comes_close_to_no_privacy(name: str):
    """Fixed seeds: at epsilon 12 regret is within 60 % of the non-private one, at epsilon 0.5 it is not."""
    regret = {}
    for epsilon in (0.5, 12.0, None):
        each = ready(name, private=epsilon is not None, epsilon=epsilon or 1.0, rounds=5000)
        trace = simulate(each.learner, each.user, each.world, rounds=5000, mechanism=each.mechanism, seeds=8)
        regret[epsilon] = trace.regret[:, -1].mean()
    assert regret[12.0] < 1.6 * regret[None] + 20
    assert regret[0.5] > 2 * regret[None]


def test_the_inverse_by_sweeping_is_the_inverse_and_sees_indefinite_matrices():
    rng, sweep = np.random.default_rng(0), jax.jit(inverse)
    with jax.enable_x64(True):
        for d in (1, 2, 7, 20):
            root = rng.standard_normal((d, d))
            matrix = root @ root.T + 0.1 * np.eye(d)
            found, definite = sweep(matrix)
            assert definite
            np.testing.assert_allclose(found @ matrix, np.eye(d), atol=1e-8)
            values, vectors = np.linalg.eigh(matrix)
            assert not sweep(matrix - 2 * values[-1] * np.eye(d))[1]
            for k in range(d):
                assert not sweep(matrix - 2 * values[k] * np.outer(vectors[:, k], vectors[:, k]))[1]


def test_an_indefinite_matrix_leaves_the_last_model_of_the_paper_in_place():
    learner = ready("linucb", "paper").learner
    with jax.enable_x64(True):
        state = learner.refresh(learner.init())
        broken = state._replace(gram=-1e9 * jnp.eye(3))
        assert np.array_equal(learner.refresh(broken).model.theta, state.model.theta)


def test_exp3_without_noise_is_the_published_algorithm():
    """Bubeck and Cesa-Bianchi 2012, theorem 3.1, from its formulas; 300 rounds of given losses."""
    learner = ready("exp3", private=False).learner
    rng = np.random.default_rng(0)
    total = np.zeros(4)
    with jax.enable_x64(True):
        ask, tell, state = compiled(learner)
        for t in range(1, 301):
            weights = np.exp(-math.sqrt(math.log(4) / (4 * t)) * (total - total.min()))
            weights /= weights.sum()
            offer = ask(state, t)
            arm, loss = int(offer.memo.arm), float(rng.random() < 0.5)
            assert float(offer.memo.weight) == pytest.approx(weights[arm], rel=1e-9)
            total[arm] += loss / weights[arm]
            state = tell(state, offer.memo, 1 - loss)


def test_ucb_plays_the_largest_index_of_its_formula():
    """Gaussian noise: proxy 1/4 + sigma^2, alpha 2.1 as in the preset of the source."""
    each = ready("ucb", "bubeck-cesa-bianchi", epsilon=1.0)
    sigma = math.sqrt(2 * math.log(1.25 / 1e-5))
    assert each.learner.proxy == pytest.approx(0.25 + sigma**2)
    rng = np.random.default_rng(0)
    pulls, rewards = np.zeros(4), np.zeros(4)
    with jax.enable_x64(True):
        ask, tell, state = compiled(each.learner)
        for t in range(200):
            arm = int(ask(state, t).memo)
            if np.all(pulls > 0):
                width = np.sqrt(2 * 2.1 * (0.25 + sigma**2) * math.log(pulls.sum()) / pulls)
                assert arm == np.argmax(rewards / pulls + width)
            estimate = rng.normal(0.5, sigma)
            state = tell(state, arm, estimate)
            pulls[arm] += 1
            rewards[arm] += estimate


@pytest.mark.parametrize(("name", "surplus"), [("kl-ucb-plus-plus", 1), ("kl-moss", 0)])
def test_with_a_known_horizon_an_arm_is_explored_less_the_more_it_was_played(name: str, surplus: int):
    """The level of Menard and Garivier 2017 by hand, and none left once an arm has its share of the horizon."""
    learner = ready(name, private=False, rounds=1000).learner
    with jax.enable_x64(True):
        level = np.array(learner._known_horizon(jnp.asarray([1.0, 25.0, 250.0, 900.0])))
    shares = [1000 / (4 * pulls) for pulls in (1, 25)]
    by_hand = [math.log(y * (1 + surplus * math.log(y) ** 2)) for y in shares]
    np.testing.assert_allclose(level, [*by_hand, 0.0, 0.0], atol=1e-12)
