"""What every world of the registry must do."""

import itertools
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from catalogue import made_up_ratings
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.random import simulation_key
from sottovoce.sim.worlds import CHOICES, WORLDS, actions_of, options_of, world_of
from sottovoce.sim.worlds.base import shown_of, world_for
from sottovoce.sim.worlds.linear import Linear

SHAPES = {"arms": {"arms": 5}, "features": {"arms": 5, "dimension": 3}, "points": {"dimension": 3}}
ALL = [
    (name, {"contexts": contexts} if contexts else {})
    for name in WORLDS
    for contexts in (CHOICES["contexts"] if actions_of(name) == "features" and "contexts" in options_of(name) else [""])
]


@pytest.fixture(params=ALL, ids=str)
def world(request: pytest.FixtureRequest, tmp_path: Path):
    name, options = request.param
    shape = SHAPES[actions_of(name)]
    if name == "movielens":
        options = {"path": str(made_up_ratings(tmp_path / "ua.base"))}
    if name == "digits":
        pytest.importorskip("sklearn")
        shape = {"arms": 5, "dimension": 20}
    if name == "table":
        (tmp_path / "table.csv").write_text("x,y,who\n" + "".join(f"{i},{i * i},{'abcde'[i % 5]}\n" for i in range(20)))
        shape, options = {"arms": 5, "dimension": 15}, {"path": str(tmp_path / "table.csv"), "label": "who"}
    with jax.enable_x64(True):
        yield world_for(world_of(name, **shape, **options), simulation_key(1))


def actions_in(world) -> list:
    """Five actions, the best one among them."""
    if not hasattr(world, "region"):
        return list(range(5))
    drawn = [world.region.uniform(key) for key in jax.random.split(simulation_key(9), 4)]
    best = world.corner if hasattr(world, "corner") else world.start
    return [world.region.place(free) for free in (best, *drawn)]


def test_outcomes_average_to_what_the_regret_assumes(world):
    """Regret is a difference of mean rewards. 20,000 draws, false-alarm rate 1e-6 (4.9 deviations)."""
    with jax.enable_x64(True):
        context = world.visit(jnp.asarray(3), simulation_key(2))
        means = []
        for place, action in enumerate(actions_in(world)):
            keys = jax.random.split(simulation_key(place), 20_000)
            means.append(jnp.mean(jax.vmap(lambda key, a=action: world.outcome(context, a, key))(keys)))
        regrets = [jnp.max(world.regret(context, action)) for action in actions_in(world)]
    np.testing.assert_allclose(np.array(regrets), max(means) - np.array(means), atol=4.9 * 2 / np.sqrt(20_000))


def test_the_best_action_has_no_regret_and_no_action_has_less(world):
    with jax.enable_x64(True):
        for round in range(20):
            context = world.visit(jnp.asarray(round), simulation_key(round))
            regrets = [float(jnp.max(world.regret(context, action))) for action in actions_in(world)]
            assert min(regrets) == pytest.approx(0.0, abs=1e-12)


MOVING = [
    *itertools.product(["quadratic", "absolute"], ["drifting", "switching"], ["ball", "box", "simplex"]),
    *itertools.product(["valley", "cliff"], ["drifting", "switching"], ["simplex"]),
    *itertools.product(["quadratic", "absolute", "ravine"], ["alternating"], ["ball"]),
]


@pytest.mark.parametrize(("name", "motion", "region"), MOVING)
def test_moving_targets_are_judged_against_the_best_fixed_point_in_hindsight(name: str, motion: str, region: str):
    """The comparators against a numerical minimum over the whole region; the grid may miss it by a hair."""
    from scipy.optimize import minimize

    with jax.enable_x64(True):
        options = {"region": {"kind": region}, "motion": motion, "period": 150.0}
        world = world_of(name, dimension=3, **options).sample(simulation_key(4))
        rounds = 150 if motion == "alternating" else 200  # its comparators are those of whole periods
        contexts = [world.visit(jnp.asarray(t), simulation_key(t)) for t in range(rounds)]
        stays = world.region.place(jnp.zeros(world.region.size))
        regret = float(jnp.max(sum(world.regret(c, stays) for c in contexts)))
        targets = np.array([c.place for c in contexts])
        segment = np.array([world.region.place(world.start), world.region.place(world.end)])
        one = lambda x: float(jnp.sum(world._loss(jnp.asarray(targets), jnp.asarray(x))))  # noqa: E731
        start = segment.mean(axis=0)
        least = minimize(one, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 4000}).fun
        assert regret == pytest.approx(one(np.array(stays)) - least, rel=2e-3, abs=2e-2)


def test_features_stay_in_the_unit_ball(world):
    if not hasattr(world, "dimension"):
        return
    with jax.enable_x64(True):
        keys = jax.random.split(simulation_key(0), 100)
        features = jax.vmap(lambda key: shown_of(world, world.visit(jnp.asarray(0), key)))(keys)
    assert features.shape == (100, world.arms, world.dimension)
    assert np.linalg.norm(features, axis=-1).max() <= 1 + 1e-12
    if isinstance(world, Linear):
        assert np.linalg.norm(world.theta) == pytest.approx(1.0)


def test_seeds_draw_different_worlds_and_the_same_seed_the_same():
    with jax.enable_x64(True):
        first, again, other = (world_of("linear", arms=3, dimension=4).sample(simulation_key(k)) for k in (1, 1, 2))
    assert np.array_equal(first.theta, again.theta)
    assert not np.array_equal(first.theta, other.theta)


def test_switching_arms_switch_but_the_best_stays_best():
    with jax.enable_x64(True):
        world = world_of("switching-arms", arms=4).sample(simulation_key(0))
        means = np.stack([world.visit(jnp.asarray(t), simulation_key(0)) for t in range(200)])
    best = int(world.best)
    assert np.all(means[:, best] - 0.2 == pytest.approx(np.delete(means, best, axis=1).max(axis=1)))
    switches = np.sum(np.diff(means[:, best]) != 0)
    assert 5 <= switches <= 15


def test_an_alternating_target_spends_a_third_of_each_period_at_the_end():
    with jax.enable_x64(True):
        world = world_of("absolute", dimension=2, motion="alternating", period=30.0).sample(simulation_key(0))
        places = np.stack([world.visit(jnp.asarray(t), simulation_key(0)).place for t in range(90)])
        away = np.any(places != np.asarray(world.region.place(world.start)), axis=1)
    assert away.reshape(3, 30).sum(axis=1).tolist() == [10, 10, 10]


def test_a_ravine_is_flat_along_one_direction():
    """Smooth and not strongly convex: the least curvature is none."""
    with jax.enable_x64(True):
        world = world_of("ravine", dimension=3).sample(simulation_key(0))
        curvature = jax.hessian(lambda x: world._loss(world.start, x))(jnp.zeros(3))
    assert np.linalg.eigvalsh(curvature) == pytest.approx([0.0, 0.0, 0.5], abs=1e-12)


def test_noise_goes_beyond_the_range_that_a_device_clips():
    """The mean reward of the best point leaves room for noise of 2.5 deviations; the noise q_t knows no bound."""
    with jax.enable_x64(True):
        world = world_of("noisy", dimension=1).sample(simulation_key(0))
        context = world.visit(jnp.asarray(0), simulation_key(0))
        drawn = [float(world.outcome(context, world.start, simulation_key(place))) for place in range(1000)]
    assert max(drawn) > 1
    assert np.mean(drawn) == pytest.approx(0.75, abs=0.015)


def test_the_narrowest_gap_falls_with_the_root_of_the_horizon_and_with_epsilon():
    gap = lambda **numbers: float(world_of("narrow-arms", arms=5, **numbers).gap)  # noqa: E731
    assert gap(horizon=40_000.0) == pytest.approx(gap(horizon=10_000.0) / 2)
    assert gap(horizon=1e8, epsilon=0.01) == pytest.approx(10 * gap(horizon=1e8, epsilon=0.1), rel=0.01)
    with pytest.raises(ConfigurationError, match="take a longer horizon"):
        gap(horizon=10.0)


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("lineer", {}, "unknown world 'lineer'; choose one of: "),
        ("linear", {"contexts": "round"}, "unknown contexts 'round'"),
        ("arms", {"contexts": "fixed"}, "unknown option of world arms 'contexts'"),
        ("linear", {}, "world linear needs a dimension of at least 1, got 0"),
    ],
)
def test_a_wrong_name_is_refused_with_the_right_ones(name: str, options: dict, says: str):
    with pytest.raises(ConfigurationError) as refused:
        world_of(name, arms=3, **options)
    assert str(refused.value).startswith(says)
