"""Entries of docs/errata.md about contextual bandits: their messages, their widths, their steps.

Deterministic, or with fixed seeds and room of many standard deviations. Symbols are the paper's.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

from sottovoce import Budget, Moments, halves, noise_of, task
from sottovoce.lab.audit.bounds import epsilon_of_distance
from sottovoce.learners.base import Key, configuration
from sottovoce.learners.contextual.linucb import PaperLinUcb
from sottovoce.learners.convex.regions import on_sphere
from sottovoce.privacy.domains import Gradient
from sottovoce.privacy.grid.calibrate import gaussian
from sottovoce.privacy.mechanisms import verify
from sottovoce.protocol.errors import BrokenPromise
from sottovoce.protocol.links import Link
from sottovoce.protocol.offers import GeneralizedModel, LinearModel
from sottovoce.sim.random import simulation_key
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.users.by_model import GeneralizedUser, LinearUser

DELTA = 1e-5
Array = NDArray[np.float64]


# --- messages --------------------------------------------------------------------------------------------------------


def farthest(message: Callable[[Array], Array], width: int, starts: int = 6) -> float:
    """The largest distance of two messages that a search finds; `width` numbers describe a person."""
    rng = np.random.default_rng(0)

    def nearness(z: Array) -> float:
        return -float(np.linalg.norm(message(z[:width]) - message(z[width:])))

    return -min(optimize.minimize(nearness, rng.normal(size=2 * width)).fun for _ in range(starts))


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_matrix_message_has_sensitivity_root_two(dimension: int):
    domain = Moments(dimension)
    found = farthest(lambda z: domain.embed(z, 0.0), dimension)
    assert found == pytest.approx(math.sqrt(2), abs=1e-3)  # the paper pays for 2


def test_the_linear_algorithm_spends_half_of_its_budget():
    mechanism = gaussian(Moments(5, reward_bound=2.0), Budget(1.0, DELTA), "paper")
    distance = mechanism.domain.l2(mechanism.scales)
    assert epsilon_of_distance(distance, DELTA) == pytest.approx(0.47, abs=0.005)
    joint = gaussian(Moments(5, reward_bound=2.0), Budget(1.0, DELTA))
    theirs, ours = noise_of(mechanism).per_block, noise_of(joint).per_block
    assert theirs == pytest.approx((29.9, 29.9, 29.9), abs=0.1)
    assert ours == pytest.approx((7.91, 5.60, 15.8), rel=0.01)


@pytest.mark.parametrize("length", [0.3, 1.0])
def test_the_relabelled_message_is_redundant_and_its_sensitivity_is_the_length_of_theta(length: float):
    """The server can multiply the reported x x' by theta^. The paper sends z x, and pays for a sensitivity of 2."""
    domain, theta = Moments(3), length * np.array([0.6, 0.0, 0.8])

    def relabelled(x: Array) -> Array:
        return domain.extract(domain.embed(x, 0.0)).gram @ theta

    x = np.array([0.2, -0.7, 0.4])
    np.testing.assert_allclose(relabelled(x), (x @ theta) * x, atol=1e-15)
    assert farthest(relabelled, 3) == pytest.approx(length, abs=1e-3)


@pytest.mark.parametrize("bound", [0.1, 0.5, 0.9])
def test_the_gradient_is_more_sensitive_than_the_paper_says(bound: float):
    """One x, the reward's noise at its two ends: the gradients differ by 2; the paper pays for 2C, C = bound."""
    link = Link("identity", radius=bound)
    assert link.largest_mean == bound
    user = GeneralizedUser(Gradient(2, 100.0), link)  # wide enough to cut nothing
    model = GeneralizedModel(np.zeros(2), np.eye(2), 0.0, 0.0, anchor=np.array([bound / 2, 0.0]))
    features, mean = np.array([[1.0, 0.0]]), bound / 3

    def apart(*rewards: float) -> float:
        first, second = (user.message(model, features, 0, reward) for reward in rewards)
        return float(np.linalg.norm(first - second))

    assert apart(mean - 1, mean + 1) == pytest.approx(2.0)
    assert apart(-(bound + 1), bound + 1) == pytest.approx(2 * (bound + 1))  # all rewards with |y| <= C + 1
    assert Gradient(2, link.residual).l2() == pytest.approx(2 * (bound + 1))  # what a device clips to, and pays for


@pytest.mark.parametrize(("bound", "truth"), [(0.25, 1.25), (0.1, 3.02), (0.01, 49.6)])
def test_the_generalised_linear_algorithm_is_not_private_for_small_rewards(bound: float, truth: float):
    """The whole message at nominal (1, 1e-5), rewards with |y| <= C + 1; a device refuses it."""
    contract = task("glm", "paper", arms=2, dimension=2, rounds=1000, epsilon=1.0, link="identity", radius=bound)
    mechanism = halves(contract).mechanism
    assert mechanism
    assert epsilon_of_distance(mechanism.domain.l2(mechanism.scales), DELTA) >= 0.99 * truth
    with pytest.raises(BrokenPromise):
        verify(mechanism)
    if bound <= 0.1:  # the reward's noise alone is enough: C sigma is smaller than its range
        assert epsilon_of_distance(2 / noise_of(mechanism).per_block[-1], DELTA) > 2.5


def test_the_generalised_linear_algorithm_is_private_for_logistic_rewards():
    mechanism = halves(task("glm", "paper", arms=2, dimension=2, rounds=1000, epsilon=1.0)).mechanism
    assert mechanism
    verify(mechanism)


# --- confidence widths -----------------------------------------------------------------------------------------------


def published(dimension: int, rounds: int, epsilon: float = 1.0) -> PaperLinUcb:
    learner = halves(task("linucb", "paper", arms=2, dimension=dimension, rounds=rounds, epsilon=epsilon)).learner
    assert isinstance(learner, PaperLinUcb)
    return learner


def width(learner: PaperLinUcb) -> float:
    """beta_T: the width of the last round's model."""
    with jax.enable_x64(True):
        last = learner.init()._replace(reports=jnp.asarray(learner.rounds - 1))
        return float(jax.jit(learner.refresh)(last).model.width)


def derived_width(sigma: float, dimension: int, rounds: float, alpha: float = 0.1) -> float:
    """The same ellipsoid at the same noise, every term derived; reward noise of proxy 1, alpha/3 for each term."""
    log = math.log(3 * rounds / alpha)
    spectral = sigma * math.sqrt(rounds) * (2 * math.sqrt(dimension) + 2 * math.sqrt(math.log(2) + log))
    reward = math.sqrt(2 * log + dimension * math.log(1 + rounds / (dimension * spectral)))
    noise = sigma * math.sqrt(rounds / spectral) * (math.sqrt(dimension) + math.sqrt(2 * log))
    return reward + noise + math.sqrt(3 * spectral)


def test_the_first_model_of_the_contextual_algorithms_does_not_exist():
    """Round 1 asks for the inverse of V~_0 + c_0 I = 0. Ours is finite."""
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(np.zeros((3, 3)))
    learner = published(3, 1000)
    for state in (learner.init(), jax.jit(learner.refresh)(learner.init())):
        assert all(np.all(np.isfinite(part)) for part in learner.ask(state, simulation_key(0)).public)


def test_the_spectral_bound_is_three_times_too_large():
    d = 10
    mechanism = gaussian(Moments(d, reward_bound=2.0), Budget(1.0, DELTA), "paper")
    reports = mechanism.scale_of_each * np.random.default_rng(0).normal(size=(4000, len(mechanism.scale_of_each)))
    noise = np.array([mechanism.domain.extract(report).gram for report in reports]) / mechanism.scales[0]
    quantile = np.quantile(np.abs(np.linalg.eigvalsh(noise)).max(axis=1), 0.999)
    paper = 4 * math.sqrt(d) + 2 * math.log(1000)
    derived = 2 * math.sqrt(d) + 2 * math.sqrt(math.log(2000))
    assert quantile == pytest.approx(8.1, abs=0.3)
    assert quantile < derived < paper
    assert paper / quantile > 3


@pytest.mark.parametrize(("dimension", "times"), [(3, 32), (10, 105)])
def test_the_confidence_width_carries_a_factor_that_its_proof_does_not_have(dimension: int, times: float):
    rounds = 4000
    learner = published(dimension, rounds)
    sigma, log = learner.sigma, math.log(rounds)
    beta = width(learner)
    assert beta / derived_width(sigma, dimension, rounds) == pytest.approx(times, rel=0.01)
    spectral = sigma * math.sqrt(rounds) * (4 * math.sqrt(dimension) + 2 * math.log(2 * rounds / 0.1))
    proved = math.sqrt(3 * spectral) + sigma * math.sqrt(dimension * rounds / spectral)
    surplus = (beta - 2 * sigma * math.sqrt(dimension * log)) / proved
    assert surplus == pytest.approx(dimension * log, rel=1e-9)
    # x' theta lies in [-1, 1] and V~ is at most t + 3 Upsilon: the bonus of a unit vector alone is above the range.
    assert beta / math.sqrt(rounds + 3 * spectral) > 2


def test_the_contextual_regret_grows_with_the_root_of_one_over_epsilon():
    """beta_T sqrt(T), with the paper's own beta: T^(3/4) and epsilon^(-1/2); the theorems say 1/epsilon."""

    def regret(epsilon: float, rounds: int) -> float:
        return width(published(5, rounds, epsilon)) * math.sqrt(rounds)

    in_epsilon = math.log(regret(0.01, 10**16) / regret(1.0, 10**16)) / math.log(100)
    assert in_epsilon == pytest.approx(0.5, abs=0.02)
    logs = math.log(1e17 / 0.1) ** 1.5 / math.log(1e16 / 0.1) ** 1.5  # ln T times the root of Upsilon's ln T
    in_time = math.log(regret(1.0, 10**17) / regret(1.0, 10**16) / logs) / math.log(10)
    assert in_time == pytest.approx(0.75, abs=0.01)


# --- the step, and the lower bound -----------------------------------------------------------------------------------


@configuration()
class Logistic:
    """One feature vector a person, of length 1, whatever is chosen; theta* is 0.8 long."""

    theta: Any

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        return jnp.tile(on_sphere(key, 3), (2, 1))

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        return (jax.random.uniform(key) < jax.nn.sigmoid(context[0] @ self.theta)).astype(float)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        return jnp.zeros(())


def test_the_step_of_the_private_gradient_descent_must_know_the_noise():
    """How far theta^ is from theta* after 2,000 people; a learner that never moves is 0.8 away."""
    rounds, theta, cases = 2000, 0.8 * np.array([0.6, 0.0, 0.8]), []
    for epsilon in (1.0, 8.0):
        learner, user, mechanism = halves(task("glm", "paper", arms=2, dimension=3, rounds=rounds, epsilon=epsilon))
        step = 1 / math.sqrt(rounds * (1 + 3 * noise_of(mechanism).per_block[-1] ** 2))
        cases += [Case(learner, mechanism), Case(replace(learner, step=step), mechanism)]
    world = Logistic(theta=jnp.asarray(theta))
    traces = simulate_grid(cases, user, world, rounds=rounds, seeds=50, checkpoints=1)
    apart = [float(np.linalg.norm(trace.state.anchor - theta, axis=1).mean()) for trace in traces]
    assert apart == pytest.approx([1.17, 1.00, 0.92, 0.70], abs=0.2)  # four standard errors
    assert apart[1] < apart[0]
    assert apart[3] < 0.8 < apart[2]


def test_a_protected_arm_is_no_secret_when_all_people_have_the_same_arms():
    """The lower-bound discussion: contexts are the unit vectors. Then the server can compute what the device plays."""
    rng = np.random.default_rng(3)
    user, arms = LinearUser(Moments(6)), np.eye(6)
    for _ in range(50):
        root = rng.normal(size=(6, 6))
        model = LinearModel(rng.normal(size=6), root @ root.T, rng.exponential(), 0.0)
        on_the_server = int(np.argmax(model.theta + model.width * np.sqrt(np.diag(model.precision))))
        assert {int(user.act(model, arms, luck)) for luck in (0.0, 0.3, 0.99)} == {on_the_server}
