"""What every learner of the registry must do. A new algorithm is tested here by being registered."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from catalogue import PRESETS, Ready, ready
from sottovoce.core.task import algorithms
from sottovoce.learners import LEARNERS, uniform_of
from sottovoce.sim.comparators import COMPARATORS
from sottovoce.sim.loop import Carry, begin, publish_state, whisper
from sottovoce.sim.noise import channel_of
from sottovoce.sim.random import simulation_key
from sottovoce.sim.run import Case as GridCase
from sottovoce.sim.run import setting_of, simulate


def first_report(each: Ready):
    """The state, and what the first person's report is told as."""
    with jax.enable_x64(True):
        key = simulation_key(0)
        world = each.world.sample(key)
        setting = setting_of(GridCase(each.learner, each.mechanism), each.user, 1, 0)
        channel = jax.tree.map(jnp.asarray, channel_of(each.mechanism))
        carry: Carry = begin(setting, each.learner, channel, world, key)
        report, _ = whisper(setting, each.learner, channel, world, key, carry, jnp.asarray(0))
        return carry.state, report


def test_the_catalogue_and_the_registry_name_the_same_learners():
    assert set(LEARNERS) | set(COMPARATORS) == set(algorithms())
    assert set(LEARNERS) == {name for name, algorithm in algorithms().items() if algorithm.trust == "local"}


@pytest.mark.parametrize("name", sorted(algorithms()))
def test_every_learner_says_what_it_is_and_offers_the_two_presets(name: str):
    about = algorithms()[name]
    assert all([about.title, about.setting, about.paper, about.algorithm, about.bound])
    assert ({"paper", "practical"} if about.trust == "local" else {"practical"}) <= set(about.presets)


def test_asking_changes_nothing_and_is_repeatable(each: Ready):
    with jax.enable_x64(True):
        state = each.learner.init()
        before = jax.tree.map(np.array, state)
        offers = [each.learner.ask(state, simulation_key(7)) for _ in range(2)]
        assert jax.tree.all(jax.tree.map(np.array_equal, before, jax.tree.map(np.array, state)))
        assert jax.tree.all(jax.tree.map(lambda a, b: np.array_equal(a, b, equal_nan=True), *offers))


def test_telling_keeps_the_shape_of_the_state_and_changes_it(each: Ready):
    state, (memo, estimate) = first_report(each)
    with jax.enable_x64(True):
        after = each.learner.tell(state, memo, estimate)
    shapes = jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), state)
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), after) == shapes
    assert not jax.tree.all(jax.tree.map(np.array_equal, state, after))
    assert type(after) is type(state)


def test_state_holds_arrays_only_and_configuration_is_frozen(each: Ready):
    with jax.enable_x64(True):
        assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(each.learner.init()))
    with pytest.raises(AttributeError):
        setattr(each.learner, "arms", 3)  # noqa: B010


def test_a_report_that_never_arrives_leaves_no_trace(each: Ready):
    """Two offers are made, one report comes: the same as if the other offer had never been made."""
    state, (memo, estimate) = first_report(each)
    with jax.enable_x64(True):
        alone = each.learner.tell(state, memo, estimate)
        each.learner.ask(state, simulation_key(99))
        beside = each.learner.tell(state, memo, estimate)
    assert jax.tree.all(jax.tree.map(np.array_equal, alone, beside))


def test_a_run_stays_finite_and_its_regret_never_falls_in_a_stochastic_world(each: Ready):
    trace = simulate(each.learner, each.user, each.world, rounds=400, mechanism=each.mechanism, seeds=3)
    assert trace.finite
    assert trace.regret.shape == (3, 100)
    assert np.all(np.diff(trace.regret, axis=1) >= 0)


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_extreme_budgets_do_not_break_a_learner(name: str, preset: str):
    for epsilon in (0.05, 12.0):
        each = ready(name, preset, epsilon=epsilon)
        assert simulate(each.learner, each.user, each.world, rounds=100, mechanism=each.mechanism, seeds=2).finite


TOO_SLOW = {"pyramid"}
"""At epsilon 4 it has made no cut in this world after a million rounds. It would pass, but only because the middle of
the ball, where it waits, is below half of uniform play. That it moves is shown in tests/learners/test_pyramid.py."""


@pytest.mark.parametrize("name", sorted(set(algorithms()) - TOO_SLOW))
def test_the_practical_preset_learns_at_epsilon_4(name: str):
    """Fixed seeds. Who recommends must be right in all of eight seeds: by chance that has probability 1 in 65,536.

    The others have a mean regret below half of uniform play, which all exceed by far when broken.
    """
    each = ready(name, rounds=6000)
    run = {"rounds": 6000, "seeds": 8, "checkpoints": 1}
    trace = simulate(each.learner, each.user, each.world, mechanism=each.mechanism, **run)
    if hasattr(each.learner, "recommend"):
        assert trace.correct is not None
        assert trace.correct.all()
        return
    uniform = simulate(uniform_of(each.task), each.user, each.world, mechanism=None, **run)
    assert trace.regret[:, -1].mean() < uniform.regret[:, -1].mean() / 2


def test_publishing_twice_is_publishing_once(each: Ready):
    state, (memo, estimate) = first_report(each)
    with jax.enable_x64(True):
        once = publish_state(each.learner, each.learner.tell(state, memo, estimate))
        twice = publish_state(each.learner, once)
    assert jax.tree.all(jax.tree.map(lambda a, b: np.allclose(a, b, rtol=1e-12), once, twice))
