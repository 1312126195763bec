"""Pyramids: the geometry, the closed form of the cut, what the published constants need, and that the others move."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sottovoce import halves, task
from sottovoce.learners.convex.cones import corners_of, enclosing, heights_of, regular_simplex, rim
from sottovoce.learners.convex.pyramid import Pyramid, State
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.random import simulation_key
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of


def learner_of(preset: str = "practical", dimension: int = 2, **numbers) -> Pyramid:
    contract = task("pyramid", preset, dimension=dimension, **({"rounds": 20_000, "epsilon": 4.0} | numbers))
    learner = halves(contract).learner
    assert isinstance(learner, Pyramid)
    return learner


def nearly_exact(learner: Pyramid) -> Pyramid:
    """The same learner for rewards that are told exactly: one answer at a point is enough."""
    return dataclasses.replace(learner, answers=1e-33)


def follow(learner: Pyramid, loss, rounds: int):
    """The states before and after every round of a run on exact losses, as plain arrays."""
    ask, tell, state = jax.jit(learner.ask), jax.jit(learner.tell), jax.tree.map(np.array, learner.init())
    for t in range(rounds):
        offer = ask(state, simulation_key(t))
        after = jax.tree.map(np.array, tell(state, offer.memo, 1 - loss(np.array(offer.public))))
        yield state, after
        state = after


@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_simplex_is_regular_and_the_pyramid_has_its_angle_and_touches_the_sphere(d: int):
    with jax.enable_x64(True):
        simplex = np.array(regular_simplex(d))
        apex = np.linspace(1.0, 2.0, d) / 7
        corners = np.array(corners_of(jnp.asarray(apex), 0.2, 1.0))
        long = np.array(corners_of(jnp.asarray(apex), 0.2, 3.0))
    np.testing.assert_allclose(simplex @ simplex.T, np.where(np.eye(d + 1) == 1, 1, -1 / d), atol=1e-12)
    base, edges = corners[1:], corners[1:] - corners[0]
    lengths = np.linalg.norm(edges, axis=1)
    np.testing.assert_array_equal(corners[0], apex)
    np.testing.assert_allclose(edges @ -apex / (lengths * np.linalg.norm(apex)), 0.2, rtol=1e-12)
    np.testing.assert_allclose(np.sum(base * edges, axis=1), 0, atol=1e-12)
    between = np.linalg.norm(base[:, None] - base[None, :], axis=-1)[~np.eye(d, dtype=bool)]
    np.testing.assert_allclose(between, between[0], rtol=1e-12)
    np.testing.assert_allclose(long[1:] - apex, 3 * edges, rtol=1e-9, atol=1e-15)


def outside_the_cone(tip: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Points of the unit sphere outside {tip - sum_i b_i (base_i - tip), b_i > 0}: a grid in the plane, else random."""
    d = len(tip)
    if d == 2:
        turns = np.linspace(0, 2 * np.pi, 4000)
        sphere = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    else:
        sphere = np.random.default_rng(d).standard_normal((6000, d))
        sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    shares = np.linalg.solve((tip - base).T, (sphere - tip).T)
    return sphere[~np.all(shares > 0, axis=0)]


def least_ellipsoid_volume(points: np.ndarray, steps: int = 3000) -> float:
    """The volume (the unit ball's being 1) of the least ellipsoid around points, by Khachiyan's ascent."""
    n, d = points.shape
    lifted, weights = np.hstack([points, np.ones((n, 1))]), np.full(n, 1 / n)
    for _ in range(steps):
        inverse = np.linalg.inv(lifted.T @ (weights[:, None] * lifted))
        far = np.sum((lifted @ inverse) * lifted, axis=1)
        worst = np.argmax(far)
        step = (far[worst] - d - 1) / ((d + 1) * (far[worst] - 1))
        weights *= 1 - step
        weights[worst] += step
    middle = weights @ points
    spread = (points - middle).T @ (weights[:, None] * (points - middle))
    return math.sqrt(np.linalg.det(d * spread))


@pytest.mark.parametrize("raised", [False, True])
@pytest.mark.parametrize("d", [2, 3])
def test_the_cut_is_the_least_ellipsoid_around_ball_minus_cone(d: int, raised: bool):
    """Against the polyhedral cone itself, sampled, and against Khachiyan's algorithm: volumes agree to 2 percent."""
    axis = np.arange(1.0, d + 1) / np.linalg.norm(np.arange(1.0, d + 1))
    lean, reach, far = 0.03, 5.0, 0.06
    with jax.enable_x64(True):
        corners = np.array(corners_of(jnp.asarray(far * axis), lean, reach))
        height, slope = heights_of(d, lean, reach, d / (d + 1) if raised else 0.0)
        shift, along, across = (float(x) for x in enclosing(d, rim(far * height, slope)))
    tip = 2 * corners[0] - corners.mean(axis=0) if raised else corners[0]
    np.testing.assert_allclose(tip, far * height * axis, rtol=1e-9)
    kept = outside_the_cone(tip, corners[1:])
    up = (kept @ axis + shift) / along
    aside = np.linalg.norm(kept - np.outer(kept @ axis, axis), axis=1) / across
    gauge = np.hypot(up, aside)
    assert gauge.max() <= 1 + 1e-9
    assert gauge.max() > 0.99
    volume = along * across ** (d - 1)
    assert volume < 0.97
    assert 0.98 * volume < least_ellipsoid_volume(kept) < 1.001 * volume


def test_a_cut_that_is_too_shallow_changes_nothing_and_a_deep_one_stays_right():
    with jax.enable_x64(True):
        np.testing.assert_allclose(enclosing(3, 0.5), [0.0, 1.0, 1.0], atol=1e-12)
        np.testing.assert_allclose(enclosing(3, -0.9), enclosing(3, -0.5))


def test_what_the_published_constants_need_before_they_move():
    """The sentence that this algorithm carries: margin, gamma and answers, for losses in [0, 1]."""
    for d in (2, 3, 7):
        margin = learner_of("paper", d).slack + 3
        assert margin == pytest.approx(6 * 64 * 32**2 * d**4, rel=1e-6)
        assert 3.9e5 * d**4 < margin
        assert 1 / margin < 2.6e-6 / d**4
        assert 2 * margin**2 > 3e11 * d**8


def test_the_published_constants_make_no_cut_in_a_private_run():
    world = world_of("quadratic", dimension=2, depth=0.9)
    learner, user, mechanism = halves(task("pyramid", "paper", dimension=2, rounds=20_000, epsilon=4.0))
    state = simulate(learner, user, world, rounds=20_000, mechanism=mechanism, seeds=2, checkpoints=1).state
    assert np.all(state.cuts == 0)
    np.testing.assert_array_equal(state.shape, [np.eye(2)] * 2)


def test_the_published_constants_cut_rightly_once_gamma_is_as_small_as_the_sentence_says():
    """Exact losses, one answer a point: what remains is the margin. The first cut keeps the minimum."""
    with jax.enable_x64(True):
        # Straight downhill from a corner of the simplex: turning there would take dozens of pyramids.
        target = -0.8 * np.array(regular_simplex(2)[0])
        loss = lambda x: jnp.asarray(np.sum((x - target) ** 2) / 4)  # noqa: E731
        run = follow(nearly_exact(learner_of("paper")), loss, 4000)
        before, after = next(pair for pair in run if pair[1].cuts > 0)
    assert before.fine < 2.6e-6 / 2**4
    assert volume_of(after) < 0.9
    assert holds(after, target)


def volume_of(state: State) -> float:
    return float(np.linalg.det(np.array(state.shape)))


def holds(state: State, point: np.ndarray) -> bool:
    return bool(np.linalg.norm(np.linalg.solve(state.shape, point - state.centre)) <= 1 + 1e-9)


@pytest.mark.parametrize("target", [[0.3, 0.4], [-0.1, 0.9], [0.2, -0.4, 0.5]], ids=str)
def test_the_practical_constants_move_and_keep_the_minimum(target: list[float]):
    loss = lambda x: jnp.asarray(np.sum((x - np.array(target)) ** 2) / 4)  # noqa: E731
    learner = nearly_exact(learner_of(dimension=len(target), c2=0.4 / (len(target) - 1)))
    with jax.enable_x64(True):
        states = [after for _, after in follow(learner, loss, 1500)]
    assert states[-1].cuts >= 3
    assert volume_of(states[-1]) < 0.9
    assert np.all(np.diff([volume_of(state) for state in states]) <= 1e-12)
    assert all(holds(state, np.array(target)) for state in states[::50])
    assert np.linalg.norm(states[-1].centre - np.array(target)) < 0.6 * np.linalg.norm(target)


TRIANGLE = {"kind": "polytope", "rows": [[1.0, 0.2], [-0.3, 1.0], [-0.6, -1.0]], "bounds": [0.7, 0.5, 0.9]}


@pytest.mark.parametrize("region", [{"kind": "ball"}, {"kind": "box"}, TRIANGLE], ids=lambda region: region["kind"])
def test_every_point_stays_in_the_region_when_the_minimum_is_far_outside(region: dict):
    """The region cuts the ellipsoid too: its centre comes back inside, and the points never leave."""
    learner = nearly_exact(learner_of(region=region))
    gauges = jax.jit(lambda state: jax.vmap(learner.region.gauge)(learner.points(state)))
    with jax.enable_x64(True):
        states = [after for _, after in follow(learner, lambda x: jnp.asarray(0.5 + (x[0] - 2 * x[1]) / 10), 800)]
        assert max(float(jnp.max(gauges(state))) for state in states[::7]) <= 1 + 1e-9
        assert float(learner.region.gauge(states[-1].centre)) < 1
    assert states[-1].cuts >= 2
    assert volume_of(states[-1]) < 0.7 * volume_of(states[0])


def answered(learner: Pyramid, means: list[float], fine: float, level: float) -> State:
    """A pyramid with enough answers but for one at its apex."""
    needed = math.ceil(learner.answers / fine**2)
    counts = jnp.array([needed - 1.0, needed, needed, needed])
    apex = learner.radius * jnp.array([0.6, 0.8])
    return learner.init()._replace(
        climbing=jnp.asarray(True),
        fine=jnp.asarray(fine),
        level=jnp.asarray(level),
        apex=apex,
        counts=counts,
        sums=counts * jnp.array(means),
    )


def test_the_four_cases_of_a_pyramid_and_a_late_answer():
    """In the order apex, two base corners, middle; margins 3 and 5 times gamma-hat, intervals of gamma-hat."""
    learner, fine = learner_of(), 0.01
    with jax.enable_x64(True):

        def told(means: list[float], level: float = fine, stage: float = 0.0) -> tuple[State, State]:
            state = answered(learner, means, fine, level)
            offer = learner.ask(state, simulation_key(0))
            assert int(offer.memo.place) == 0
            return state, learner.tell(state, offer.memo._replace(stage=jnp.asarray(stage)), jnp.asarray(means[0]))

        state, turned = told([0.30, 0.33, 0.28, 0.30])
        np.testing.assert_allclose(turned.apex, corners_of(state.apex, learner.lean, 1.0)[1])
        assert (turned.cuts, turned.stage, turned.fine, turned.counts[0]) == (0, 1, 0.5, 0)

        state, cut = told([0.32, 0.319, 0.27, 0.29])
        assert (cut.cuts, bool(cut.climbing), cut.level) == (1, False, 0.5)
        np.testing.assert_allclose(cut.centre / np.linalg.norm(cut.centre), [-0.6, -0.8], rtol=1e-9)

        _, raised = told([0.30, 0.31, 0.31, 0.23])
        assert raised.cuts == 1
        assert volume_of(cut) < volume_of(raised) < 1

        _, closer = told([0.30, 0.31, 0.31, 0.30], level=fine / 2)
        assert (closer.fine, closer.stage, bool(closer.climbing), closer.counts[0]) == (
            fine / 2,
            0,
            True,
            closer.counts[1],
        )

        _, again = told([0.30, 0.31, 0.31, 0.30])
        assert (again.level, again.stage, bool(again.climbing)) == (fine / 2, 1, False)

        state, late = told([0.30, 0.31, 0.31, 0.30], stage=-1.0)
        assert jax.tree.all(jax.tree.map(np.array_equal, state, late))


def test_what_it_cannot_do_it_refuses():
    with pytest.raises(ConfigurationError, match="for one take interval-search"):
        learner_of(dimension=1)
    with pytest.raises(ConfigurationError, match=r"cuts nothing in 6 dimensions: c2 must be below 0\.17"):
        learner_of(dimension=6)
    assert learner_of(dimension=6, c2=0.17).size == 6
    with pytest.raises(ConfigurationError, match="needs c1 > 1, 0 < c2 < 1 and reach > 0"):
        learner_of(c2=2.0)
