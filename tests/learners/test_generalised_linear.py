"""Generalised linear learners without noise are the published ones, against references written independently."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, special

from catalogue import ready
from sottovoce import halves, noise_of, task
from sottovoce.lab.study.cells import cells_of
from sottovoce.lab.study.file import Study
from sottovoce.privacy.domains import MomentEstimate, RelabelledEstimate
from sottovoce.sim.comparators.gloc import nearest_in_ball
from sottovoce.sim.comparators.raw import RawAnswer
from sottovoce.sim.random import seed_keys, simulation_key
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of
from sottovoce.sim.worlds.base import world_for

KAPPA = special.expit(1.0) * special.expit(-1.0)


def people(count: int, seed: int = 0, theta=(0.6, -0.64, 0.48)):
    """Features in the unit ball of three dimensions and logistic rewards."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((count, 3)) / 2
    features /= np.maximum(1.0, np.linalg.norm(features, axis=1, keepdims=True))
    return features, (rng.random(count) < special.expit(features @ np.array(theta))).astype(float)


def shortened(vector: np.ndarray) -> np.ndarray:
    return vector / max(1.0, np.linalg.norm(vector))


@pytest.mark.parametrize("name", ["gradient", "glm"])
def test_private_gradient_without_noise_is_projected_gradient_descent_with_averaging(name: str):
    learner = ready(name, private=False).learner
    c = 2.0 * 3 / KAPPA
    start = c**2 * (0.25 / 3) * 3
    theta, iterates = np.zeros(3), []
    with jax.enable_x64(True):
        ask, tell, state = jax.jit(learner.ask), jax.jit(learner.tell), learner.init()
        for t, (x, y) in enumerate(zip(*people(200), strict=True), 1):
            offer = ask(state, simulation_key(t))
            np.testing.assert_allclose(offer.public.anchor, theta, rtol=1e-9, atol=1e-12)
            gradient = (special.expit(x @ theta) - y) * x
            state = tell(state, offer.memo, jnp.asarray(gradient))
            theta = shortened(theta - c / (t + start) * gradient)
            iterates.append(theta)
        published = ask(state, simulation_key(0)).public
    weights = np.cumprod([1.0, *(1 + 10 / s for s in range(1, 200))])  # t-th iterate: (t + 10 - 1 over t - 1)
    np.testing.assert_allclose(published.theta, np.average(iterates, axis=0, weights=weights), rtol=1e-9)
    assert float(published.explore) == pytest.approx(min(1.0, 0.005 * start / 200))


def test_han_et_al_step_by_c_over_t_and_publish_the_last_iterate():
    learner = ready("gradient", "han-et-al", private=False).learner
    theta = np.zeros(3)
    with jax.enable_x64(True):
        tell, state = jax.jit(learner.tell), learner.init()
        for t, (x, y) in enumerate(zip(*people(50), strict=True), 1):
            gradient = (special.expit(x @ theta) - y) * x
            state = tell(state, (), jnp.asarray(gradient))
            theta = shortened(theta - 3 / KAPPA / t * gradient)
        offer = learner.ask(state, simulation_key(0)).public
    np.testing.assert_allclose(offer.theta, theta, atol=1e-6)
    assert float(offer.explore) == 0


def beta_by_hand(t, d, horizon, alpha, labels, vector, step, squares, upsilon):
    """The explicit width for a logistic link on the unit ball: mu = 0.197, R = 1/2, S = 1."""
    c = max(2 * upsilon, 1.0)
    regret = 1 / (2 * step) + step / 2 * squares + 2 * vector * math.sqrt(2 * t * math.log(5 * horizon / alpha))
    level = math.log(5 * math.sqrt(1 + 4 * t) / alpha)
    root = 0.5 * math.sqrt(2 * level) + math.sqrt(0.5 * level + 4 * KAPPA * (regret + KAPPA))
    errors = min((root / (2 * KAPPA)) ** 2 - 1, 4 * t)
    multiplied = labels * math.sqrt(t) * (math.sqrt(d) + math.sqrt(2 * math.log(10 * horizon / alpha)))
    return math.sqrt(errors) + multiplied / math.sqrt(c - upsilon) + math.sqrt(c + upsilon)


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("preset", ["paper", "explicit"])
def test_algorithm_3_regresses_the_pairs_of_gradient_descent_in_its_ellipsoid(preset: str, private: bool):
    """Reports without noise, told to a learner that expects none and to one that expects the noise of epsilon 4."""
    each, paper = ready("glm", preset, private=private), preset == "paper"
    learner, (matrix, *_, vector) = each.learner, noise_of(each.mechanism).per_block if each.mechanism else (0.0, 0.0)
    step = 1 / 20 if paper else 1 / math.sqrt(400 * (special.expit(1.0) ** 2 + 3 * vector**2))
    gram, moment, anchor, squares = np.zeros((3, 3)), np.zeros(3), np.zeros(3), 0.0
    with jax.enable_x64(True):
        ask, tell, state = jax.jit(learner.ask), jax.jit(learner.tell), learner.init()
        for x, y in zip(*people(100), strict=True):
            offer = ask(state, simulation_key(0))
            gradient = (special.expit(x @ anchor) - y) * x
            told = (np.outer(x, x), (x @ anchor) * x, gradient) if paper else (np.outer(x, x), gradient)
            kind = RelabelledEstimate if paper else MomentEstimate
            state = tell(state, offer.memo, kind(*map(jnp.asarray, told)))
            gram, moment = gram + np.outer(x, x), moment + (x @ anchor) * x
            squares, anchor = squares + gradient @ gradient, shortened(anchor - step * gradient)
        public = ask(learner.refresh(state), simulation_key(0)).public
    tail = 4 * math.sqrt(3) + 2 * math.log(8000) if paper else math.sqrt(6) + math.sqrt(2 * math.log(40_000))
    upsilon = 10 * matrix * tail
    np.testing.assert_allclose(public.anchor, anchor, rtol=1e-9)
    np.testing.assert_allclose(public.theta, np.linalg.solve(gram + max(2 * upsilon, 1) * np.eye(3), moment), rtol=1e-9)
    by_hand = beta_by_hand(100, 3, 400, 0.1, matrix, vector, step, squares, upsilon)
    assert float(public.width) == pytest.approx(by_hand, rel=1e-9)


def test_an_indefinite_matrix_leaves_the_last_model_of_algorithm_3_in_place():
    learner = ready("glm", "explicit").learner
    with jax.enable_x64(True):
        state = learner.refresh(learner.init())
        broken = state._replace(gram=-1e9 * jnp.eye(3), moment=jnp.ones(3))
        assert np.array_equal(learner.refresh(broken).model.theta, state.model.theta)


def test_the_explicit_ellipsoid_holds_theta_and_is_not_vacuous():
    """32 seeds at one time, failure probability 0.1 at most: 11 misses have a chance below 1e-3."""
    each = ready("glm", "explicit", rounds=1000)
    trace = simulate(each.learner, each.user, each.world, rounds=1000, mechanism=each.mechanism, seeds=32)
    with jax.enable_x64(True):
        theta = np.array(jax.vmap(lambda key: world_for(each.world, key).theta)(seed_keys(0, 32)))
    shape = np.linalg.inv(trace.state.model.precision)
    wrong = np.array(trace.state.model.theta) - theta
    distance = np.sqrt(np.einsum("si,sij,sj->s", wrong, shape, wrong)) / np.array(trace.state.model.width)
    assert np.sum(distance > 1) <= 10
    assert np.max(distance) > 0.1


# --- the non-private column ------------------------------------------------------------------------------------------


def test_oful_is_ridge_regression_with_the_ellipsoid_of_its_theorem():
    learner = ready("oful", "published").learner
    features, rewards = people(80)
    with jax.enable_x64(True):
        tell, state = jax.jit(learner.tell), learner.init()
        for x, y in zip(features, 2 * rewards - 1, strict=True):
            state = tell(state, (), RawAnswer(jnp.asarray(x), jnp.asarray(y)))
        model = learner.ask(state, simulation_key(0)).public
    gram = features.T @ features + np.eye(3)
    np.testing.assert_allclose(model.theta, np.linalg.solve(gram, features.T @ (2 * rewards - 1)), rtol=1e-9)
    np.testing.assert_allclose(model.precision, np.linalg.inv(gram), rtol=1e-9)
    assert float(model.width) == pytest.approx(math.sqrt(math.log(np.linalg.det(gram)) + 2 * math.log(10)) + 1)


def test_ucb_glm_comes_as_near_to_theta_as_maximum_likelihood():
    """One pass against Newton's method on the whole history: closer than a third of a standard error of either."""
    learner = ready("ucb-glm").learner
    features, rewards = people(4000, theta=(0.3, -0.3, 0.2))
    with jax.enable_x64(True):
        tell, state = jax.jit(learner.tell), learner.init()
        for x, y in zip(features, rewards, strict=True):
            state = tell(state, (), RawAnswer(jnp.asarray(x), jnp.asarray(y)))
    theta = np.zeros(3)
    for _ in range(20):
        chance = special.expit(features @ theta)
        curvature = (features.T * (chance * (1 - chance))) @ features + np.eye(3)
        theta += np.linalg.solve(curvature, features.T @ (rewards - chance) - theta)
    wrong = np.array(state.theta) - theta
    assert math.sqrt(wrong @ curvature @ wrong) < 0.33


def test_gloc_is_the_published_algorithm():
    """Jun et al. 2017 with online Newton steps, its projections by a general-purpose minimiser."""
    learner = ready("gloc", "published").learner
    matrix, moment, squares, anchor = np.eye(3), np.zeros(3), 0.0, np.zeros(3)
    descent = 2 * KAPPA
    with jax.enable_x64(True):
        tell, state = jax.jit(learner.tell), learner.init()
        for x, y in zip(*people(40, theta=(0.0, 0.0, 1.0)), strict=True):
            state = tell(state, (), RawAnswer(jnp.asarray(x), jnp.asarray(y)))
            z, residual = x @ anchor, special.expit(x @ anchor) - y
            matrix = matrix + np.outer(x, x)
            descent += residual**2 * (x @ np.linalg.solve(matrix, x)) / (2 * KAPPA)
            anchor = projected(matrix, anchor - residual / KAPPA * np.linalg.solve(matrix, x))
            moment, squares = moment + z * x, squares + z**2
            np.testing.assert_allclose(state.anchor, anchor, atol=1e-5)
        public = learner.ask(state, simulation_key(0)).public
    theta = np.linalg.solve(matrix, moment)
    inner = math.sqrt(1 + 2 / KAPPA * descent + 4 / 16 / KAPPA**4 / 0.01)
    alpha = 1 + 4 / KAPPA * descent + 2 / KAPPA**2 * math.log(20 * inner)
    np.testing.assert_allclose(public.theta, theta, atol=1e-5)
    assert float(public.width) ** 2 == pytest.approx(alpha + 1 - squares + theta @ moment, rel=1e-5)


def projected(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """The nearest point of the unit ball in the norm of the matrix."""
    if np.linalg.norm(vector) <= 1:
        return vector
    values, vectors = np.linalg.eigh(matrix)
    point = lambda m: vectors @ (values / (values + m) * (vectors.T @ vector))  # noqa: E731
    return point(optimize.brentq(lambda m: np.linalg.norm(point(m)) - 1, 0.0, 1e9, xtol=1e-12))


def test_the_projection_is_right_for_ill_conditioned_matrices():
    rng, project = np.random.default_rng(3), jax.jit(nearest_in_ball)
    with jax.enable_x64(True):
        for _ in range(20):
            root = rng.standard_normal((3, 3)) * np.array([10.0, 1.0, 0.1])
            matrix, vector = root @ root.T + np.eye(3), rng.standard_normal(3) * 3
            found = project(jnp.asarray(matrix), jnp.asarray(vector), 1.0)
            np.testing.assert_allclose(found, projected(matrix, vector), atol=1e-4)


@pytest.mark.parametrize(("link", "world"), [("probit", "probit"), ("poisson", "poisson"), ("identity", "linear")])
def test_links_other_than_the_logistic_are_learned_too(link: str, world: str):
    """Fixed seeds: mean regret of eight seeds at epsilon 4 below half of uniform play."""
    contract = task("glm", arms=4, dimension=3, rounds=6000, epsilon=4.0, link=link)
    learner, user, mechanism = halves(contract)
    place = world_of(world, arms=4, dimension=3)
    trace = simulate(learner, user, place, rounds=6000, mechanism=mechanism, seeds=8)
    assert trace.regret[:, -1].mean() < 6000 * uniform_regret(place) / 2


def uniform_regret(world) -> float:
    """What a random action costs, averaged over 2,000 people."""
    with jax.enable_x64(True):
        sampled = world.sample(simulation_key(5))

        def one(key):
            context = sampled.visit(jnp.asarray(0), key)
            return jnp.mean(jax.vmap(lambda action: sampled.regret(context, action))(jnp.arange(world.arms)))

        return float(jnp.mean(jax.jit(jax.vmap(one))(jax.random.split(simulation_key(6), 2000))))


def test_the_paper_is_run_with_the_link_of_the_study():
    shape = {"arms": 4, "dimension": 3, "epsilon": [1.0], "rounds": 10}
    study = Study(learner="glm", world=["probit"], tuning={"link": "probit"}, **shape)
    assert {cell.task.tuning["link"] for cell in cells_of(study)} == {"probit"}
