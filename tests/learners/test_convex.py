"""Learners of points: zero noise gives the published methods, and nobody is ever asked to leave the region."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from catalogue import ready
from sottovoce import halves, task
from sottovoce.catalogue.algorithms import algorithms
from sottovoce.learners.convex.multi_point import orthonormal
from sottovoce.learners.linalg import cholesky, solve, solve_transposed
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.random import seed_keys, simulation_key
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of
from sottovoce.sim.worlds.base import world_for

POINTS = sorted(n for n, a in algorithms().items() if a.actions == "points" and a.trust == "local")
TRIANGLE = {"kind": "polytope", "rows": [[1.0, 0.2], [-0.3, 1.0], [-0.6, -1.0]], "bounds": [0.7, 0.5, 0.9]}
REGIONS = [({"kind": "ball"}, 2), ({"kind": "box"}, 2), ({"kind": "simplex"}, 3), (TRIANGLE, 2)]


def follow(learner, rewards, rounds: int):
    """The states and the points of a run with given noise-free rewards of points."""
    ask, tell, state = jax.jit(learner.ask), jax.jit(learner.tell), learner.init()
    for t in range(rounds):
        offer = ask(state, simulation_key(t))
        yield state, offer
        state = tell(state, offer.memo, rewards(np.array(offer.public)))


@pytest.mark.parametrize("name", [name for name in POINTS if name != "interval-search"])
def test_every_point_played_lies_in_the_region(name: str):
    """Under strong noise too: epsilon 0.3, regions with corners."""
    rng = np.random.default_rng(0)
    noise = lambda points: jnp.asarray(rng.normal(0, 3, np.atleast_2d(points).shape[0] // 2 or ()))  # noqa: E731
    for region, dimension in REGIONS[2:]:
        learner, _, _ = halves(task(name, dimension=dimension, region=region, rounds=200, epsilon=0.3))
        with jax.enable_x64(True):
            home = learner.region.place(jnp.zeros(learner.region.size))
            for _, offer in follow(learner, noise, 60):
                for point in np.atleast_2d(offer.public):
                    free = point - home if region["kind"] != "simplex" else learner.region.basis.T @ (point - home)
                    assert float(learner.region.gauge(jnp.asarray(free))) <= 1 + 1e-9


def test_fkm_without_noise_is_the_published_descent():
    learner = ready("fkm", private=False, rounds=500).learner
    target = np.array([0.4, -0.2])
    loss = lambda x: np.linalg.norm(x - target) / 2  # noqa: E731
    b = 3 * 0.5 + 2 * 0.5
    rho = min(2 * 500**-0.25 * math.sqrt(2 * 0.5 / b), 0.5)
    eta = rho / (2 * 0.5 * math.sqrt(500))
    y = np.zeros(2)
    with jax.enable_x64(True):
        for state, offer in follow(learner, lambda x: 1 - loss(x), 200):
            np.testing.assert_allclose(state.iterate, y, rtol=1e-9, atol=1e-12)
            u = np.array(offer.memo)
            np.testing.assert_allclose(offer.public, y + rho * u, rtol=1e-9)
            y = y - eta * (2 / rho) * (loss(y + rho * u) - 0.5) * u
            y *= min(1.0, (1 - rho) / np.linalg.norm(y))


@pytest.mark.parametrize("name", ["saha-tewari", "hazan-levy"])
@pytest.mark.parametrize(("region", "dimension"), REGIONS, ids=lambda r: r["kind"] if isinstance(r, dict) else "")
def test_barrier_methods_follow_the_regularised_leader(name: str, region: dict, dimension: int):
    """The iterate is the minimiser, found independently by a general solver; 40 rounds of noise-free losses."""
    learner, _, _ = halves(task(name, dimension=dimension, region=region, rounds=400, epsilon=1.0), private=False)
    mu = 0.5 if name == "hazan-levy" else 0.0
    with jax.enable_x64(True):
        body = learner.region
        barrier = lambda z: -np.sum(np.log(_room(body, z)))  # noqa: E731
        gradients, iterates = np.zeros(body.size), []
        for t, (state, offer) in enumerate(follow(learner, lambda x: jnp.asarray(1 - np.sum(x**2) / 4), 40)):
            if t % 13 == 1:
                past = np.array(iterates)
                objective = lambda z, p=past, g=gradients: (  # noqa: E731
                    learner.rate * (g @ z + mu / 2 * np.sum((z - p) ** 2)) + barrier(z)
                )
                best = minimize(objective, np.array(state.iterate), method="Nelder-Mead", options={"xatol": 1e-8})
                np.testing.assert_allclose(state.iterate, best.x, atol=2e-4)
            loss = float(np.sum(np.array(offer.public) ** 2) / 4) - 0.5
            gradients = gradients + body.size * loss * np.array(offer.memo.lever)
            iterates.append(np.array(state.iterate))


def _room(region, z: np.ndarray) -> np.ndarray:
    """The arguments of the barrier's logarithms."""
    match type(region).__name__.removesuffix("Region"):
        case "Ball":
            room = np.array([region.radius**2 - z @ z])
        case "Box":
            room = region.radius**2 - z**2
        case "Simplex":
            room = 1 / (region.size + 1) + region.basis @ z
        case _:
            room = region.bounds - region.rows @ z
    return np.where(room > 0, room, 1e-300)


def test_the_exploration_of_a_barrier_method_is_the_dikin_ellipsoid():
    """(x - y)' (H + eta mu t I) (x - y) = delta^2 for every point played; the lever undoes it: unbiased gradients."""
    learner = ready("hazan-levy", private=False).learner
    with jax.enable_x64(True):
        state = learner.init()._replace(iterate=jnp.array([0.3, -0.5]), told=jnp.asarray(9.0))
        curvature = learner.region.hessian(state.iterate) + learner.rate * 0.5 * 10 * jnp.eye(2)
        offers = jax.vmap(lambda key: learner.ask(state, key))(jax.random.split(simulation_key(0), 20_000))
        steps = np.array(offers.public - state.iterate)
        np.testing.assert_allclose(np.einsum("ni,ij,nj->n", steps, curvature, steps), 1.0, rtol=1e-9)
        # E[d <a, x> lever] = a for linear losses; 20,000 draws, false-alarm rate below 1e-6.
        slope = np.array([0.7, -1.1])
        mean = np.mean(2 * (steps @ slope)[:, None] * np.array(offers.memo.lever), axis=0)
    np.testing.assert_allclose(mean, slope, atol=0.08)


def test_the_triangular_root_solves():
    rng = np.random.default_rng(0)
    with jax.enable_x64(True):
        a = rng.standard_normal((5, 5))
        matrix = jnp.asarray(a @ a.T + np.eye(5))
        root, vector = cholesky(matrix), jnp.asarray(rng.standard_normal(5))
        np.testing.assert_allclose(root, np.linalg.cholesky(matrix), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(root @ solve(root, vector), vector, rtol=1e-9)
        np.testing.assert_allclose(root.T @ solve_transposed(root, vector), vector, rtol=1e-9)


@pytest.mark.parametrize("name", ["two-point", "two-point-strong", "k-point", "d-plus-one-point"])
def test_slopes_without_noise_are_gradient_descent_on_a_linear_loss(name: str):
    """A linear loss has the same slope everywhere, so the update is known exactly."""
    learner = ready(name, private=False, rounds=300).learner
    slope = np.array([0.6, -0.3])
    m, d = learner.directions, 2
    y = np.zeros(2)
    with jax.enable_x64(True):
        for t, (state, offer) in enumerate(follow(learner, lambda x: jnp.asarray(_slopes(-x @ slope, x)), 60), 1):
            np.testing.assert_allclose(state.iterate, y, rtol=1e-6, atol=1e-9)
            u = np.array(offer.memo)
            step = learner.rate / (0.5 * (t + learner.offset)) if name == "two-point-strong" else learner.rate
            y = y - step * (d / m) * (u @ slope) @ u
            y *= min(1.0, (1 - learner.explore) / np.linalg.norm(y))


def _slopes(rewards: np.ndarray, points: np.ndarray) -> np.ndarray:
    pairs = len(points) // 2
    return (rewards[:pairs] - rewards[pairs:]) / np.linalg.norm(points[:pairs] - points[pairs:], axis=1)


def test_random_directions_are_orthonormal():
    with jax.enable_x64(True):
        rows = np.array(orthonormal(simulation_key(0), 4, 6))
    np.testing.assert_allclose(rows @ rows.T, np.eye(4), atol=1e-12)


def test_more_points_help_under_local_privacy():
    """The noise in the gradient falls with the number of pairs; the paper expects little difference. Fixed seeds."""
    world = world_of("absolute", dimension=4, steepness=1.0)
    last = []
    for m in (1, 4):
        learner, user, mechanism = halves(task("k-point", dimension=4, rounds=2000, epsilon=1.0, directions=m))
        trace = simulate(learner, user, world, rounds=2000, mechanism=mechanism, seeds=8, checkpoints=1)
        last.append(trace.regret.mean())
    assert last[1] < 0.8 * last[0]


def test_interval_search_never_cuts_the_minimum_off():
    """At the error rate of the preset `paper`, 2/T for each of the few tests; 32 runs."""
    world = world_of("quadratic", dimension=1, depth=0.9)
    learner, user, mechanism = halves(task("interval-search", dimension=1, rounds=20_000, epsilon=4.0, care=8.0))
    trace = simulate(learner, user, world, rounds=20_000, mechanism=mechanism, seeds=32, checkpoints=1)
    assert np.all(trace.state.epoch >= 1)
    assert np.all((trace.state.high >= 0.9) | (trace.state.low <= -0.9))


def test_interval_search_wants_an_interval():
    with pytest.raises(ConfigurationError, match="searches an interval: dimension 1, got 2"):
        halves(task("interval-search", dimension=2, rounds=100, epsilon=1.0))


def test_more_directions_than_dimensions_are_refused():
    with pytest.raises(ConfigurationError, match="needs 1 to 2 directions"):
        halves(task("k-point", dimension=2, rounds=100, epsilon=1.0, directions=3))


def test_newton_without_noise_adds_the_second_derivative_of_each_report_to_its_precision():
    """The precision and the mean against the formulas, with matrices; one draw lies outside the ball."""
    learner = ready("newton", private=False).learner
    loss = lambda x: float(np.sum((x - 0.3) ** 2) / 4)  # noqa: E731
    with jax.enable_x64(True):
        run = list(follow(learner, lambda x: jnp.asarray(1 - loss(x)), 40))
        for (state, offer), (after, _) in itertools.pairwise(run):
            z, p = np.array(offer.memo.draw), float(offer.memo.beyond)
            root = np.array(state.root)
            heard = p * loss(np.array(offer.public)) + learner.wall * (p - 1) - float(state.level)
            np.testing.assert_allclose(offer.public, (state.mean + root @ z) / p, rtol=1e-9)
            np.testing.assert_allclose(after.mean, state.mean - learner.rate * heard * root @ z, rtol=1e-9)
            change = np.eye(2) + learner.focus * learner.rate * heard * (np.outer(z, z) - np.eye(2))
            wanted = np.linalg.inv(root).T @ change @ np.linalg.inv(root)
            sizes = np.sqrt(np.diag(np.linalg.inv(wanted)))
            if sizes.max() < learner.width:  # it is never wider than at first
                np.testing.assert_allclose(np.linalg.inv(after.root @ after.root.T), wanted, rtol=1e-9)


def test_newton_narrows_across_a_valley_and_not_along_it():
    """Without noise; evenly spread in two directions, half of the variance would lie across."""
    half = halves(task("newton", dimension=2, rounds=2_000, epsilon=1.0), private=False)
    world = world_of("valley", dimension=2)
    trace = simulate(half.learner, half.user, world, mechanism=None, rounds=2_000, seeds=4, checkpoints=1)
    with jax.enable_x64(True):
        directions = [np.array(world_for(world, key).across) for key in seed_keys(0, 4)]
    shares = [np.sum((d @ r) ** 2) / np.sum(r**2) for d, r in zip(directions, trace.state.root, strict=True)]
    assert max(shares) < 0.25
