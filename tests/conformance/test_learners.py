"""What every learner of the registry must do. A new algorithm is tested here by being registered."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from catalogue import PRESETS, Ready, ready
from sottovoce.catalogue.algorithms import algorithms
from sottovoce.engine.complete import complete
from sottovoce.engine.pytrees import join, split
from sottovoce.engine.step import Answer
from sottovoce.learners import LEARNERS, uniform_of
from sottovoce.learners.base import Learner, Offer
from sottovoce.sim.comparators import COMPARATORS
from sottovoce.sim.loop import answer, begin
from sottovoce.sim.random import simulation_key
from sottovoce.sim.run import Case as GridCase
from sottovoce.sim.run import Run, parts_of, setting_of, simulate


def compiled(function: Callable, *arguments):
    """function(*arguments). Numbers are arguments of what is compiled, so that presets of one shape share it."""
    numbers, rest = split(arguments)
    return _compiled(function, rest, numbers)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _compiled(function: Callable, rest, numbers: list):
    return function(*join(numbers, rest))


def ask(learner: Learner, state, key: jax.Array) -> Offer:
    return learner.ask(state, key)


def tell(learner: Learner, state, memo, estimate):
    return learner.tell(state, memo, estimate)


def publish(learner: Learner, state):
    return complete(learner).refresh(state)


def first_report(each: Ready) -> tuple[Any, Answer]:
    """The state, and what the first person's report is told as."""
    with jax.enable_x64(True):
        key = simulation_key(0)
        world = each.world.sample(key)
        case = GridCase(each.learner, each.mechanism)
        setting, (learner, gates) = setting_of(case, each.user, Run(rounds=1)), parts_of(case)
        carry = begin(setting, learner, gates, world, key)
        report, _ = answer(setting, learner, gates, world, key, carry, jnp.asarray(0))
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
        offers = [compiled(ask, each.learner, state, simulation_key(7)) for _ in range(2)]
        assert jax.tree.all(jax.tree.map(np.array_equal, before, jax.tree.map(np.array, state)))
        assert jax.tree.all(jax.tree.map(lambda a, b: np.array_equal(a, b, equal_nan=True), *offers))


def test_telling_is_pure_and_keeps_the_shape_of_the_state(each: Ready):
    """A lost report leaves no trace: an offer made beside changes nothing. Publishing twice is publishing once."""
    state, (memo, estimate, _) = first_report(each)
    with jax.enable_x64(True):
        after = compiled(tell, each.learner, state, memo, estimate)
        compiled(ask, each.learner, state, simulation_key(99))
        again = compiled(tell, each.learner, state, memo, estimate)
        once = compiled(publish, each.learner, after)
        twice = compiled(publish, each.learner, once)
    shapes = jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), state)
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), after) == shapes
    assert not jax.tree.all(jax.tree.map(np.array_equal, state, after))
    assert type(after) is type(state)
    assert jax.tree.all(jax.tree.map(np.array_equal, after, again))
    assert jax.tree.all(jax.tree.map(lambda a, b: np.allclose(a, b, rtol=1e-12), once, twice))


def test_state_holds_arrays_only_and_configuration_is_frozen(each: Ready):
    with jax.enable_x64(True):
        assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(each.learner.init()))
    with pytest.raises(AttributeError):
        setattr(each.learner, "arms", 3)  # noqa: B010


@pytest.mark.parametrize("name", [name for name in sorted(LEARNERS) if algorithms()[name].actions == "arms"])
def test_a_loop_by_hand_with_rewards_finds_the_best_arm(name: str):
    """No world, no user, no noise: ask, tell the reward. Fixed keys; by chance an arm is asked 150 times of 600."""
    learner = ready(name, private=False, rounds=600, arms=4).learner
    draw, asked = np.random.default_rng(0), []
    ask, tell, state = jax.jit(learner.ask), jax.jit(learner.tell), learner.init()
    for round in range(600):
        offer = ask(state, simulation_key(round))
        asked.append(int(offer.public))
        reward = float(draw.random() < (0.1, 0.1, 0.9, 0.1)[asked[-1]])
        state = tell(state, offer.memo, reward)
    if hasattr(learner, "recommend"):
        recommended = np.asarray(learner.recommend(state))
        assert recommended[2] if recommended.ndim else recommended == 2
    else:
        assert asked[300:].count(2) > 200


TOO_SLOW = {"pyramid"}
"""At epsilon 4 it has made no cut in this world after a million rounds. It would pass, but only because the middle of
the ball, where it waits, is below half of uniform play. That it moves is shown in tests/learners/test_pyramid.py."""


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_runs_stay_finite_at_any_budget_and_the_practical_preset_learns(name: str, preset: str):
    """Fixed seeds, epsilon 4 first. One test, because compiling the loop is nearly all of its time.

    Who recommends must be right in all of eight seeds: by chance that has probability 1 in 65,536. The others have a
    mean regret below half of uniform play, which all exceed by far when broken.
    """
    each, rounds = ready(name, preset, rounds=6000), 6000 if preset == "practical" else 600
    run = {"rounds": rounds, "checkpoints": rounds // 60, "seeds": 8}
    trace = simulate(each.learner, each.user, each.world, mechanism=each.mechanism, **run)
    assert trace.finite
    assert trace.regret.shape == (8, rounds // 60)
    assert np.all(np.diff(trace.regret, axis=1) >= 0)
    if preset == "practical" and name not in TOO_SLOW:
        if complete(each.learner).stops:
            assert trace.correct is not None
            assert trace.correct.all()
        else:
            assert trace.regret[:, -1].mean() < uniform_regret(each) / 2
    for epsilon in (0.05, 12.0):
        each = ready(name, preset, rounds=6000, epsilon=epsilon)
        run |= {"rounds": 120, "checkpoints": 2}
        assert simulate(each.learner, each.user, each.world, mechanism=each.mechanism, **run).finite


def uniform_regret(each: Ready) -> float:
    """Every round of uniform play is alike: a tenth of them tells."""
    uniform = simulate(uniform_of(each.task), each.user, each.world, rounds=600, mechanism=None, seeds=8, checkpoints=1)
    return 10 * float(uniform.regret[:, -1].mean())
