"""The simulator: compiled and plain loops agree, seeds are independent, late means late.

Where nothing speaks against it a run has two seeds and a checkpoint for every round: one compiled loop for many tests.
"""

import re
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sottovoce as sv
from catalogue import ready
from sottovoce.learners import UniformArms
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.gates import Quieter, gates_of
from sottovoce.sim.host import simulate_on_host
from sottovoce.sim.loop import advance_all
from sottovoce.sim.run import Case, simulate, simulate_grid
from sottovoce.sim.worlds import world_of
from sottovoce.users import ScalarUser


@pytest.mark.parametrize("late", [{}, {"delay": 3, "publish_every": 5}], ids=["prompt", "late"])
@pytest.mark.parametrize("name", ["tsallis-inf", "linucb"])
def test_the_compiled_loop_and_the_plain_one_give_the_same_regret(name: str, late: dict):
    """The plain loop is slow: it plays the first of two seeds."""
    each = ready(name, rounds=15)
    parts = (each.learner, each.user, each.world)
    compiled = simulate(*parts, rounds=15, mechanism=each.mechanism, seeds=2, **late)
    plain = simulate_on_host(*parts, rounds=15, mechanism=each.mechanism, seeds=1, **late)
    np.testing.assert_allclose(compiled.regret[:1], plain.regret, rtol=1e-7)  # normal numbers have single precision
    np.testing.assert_array_equal(compiled.rounds, plain.rounds)


def test_a_seed_gives_the_same_run_whoever_runs_beside_it():
    each = ready("tsallis-inf")
    parts = (each.learner, each.user, each.world)
    many = simulate(*parts, rounds=100, mechanism=each.mechanism, seeds=4)
    few = simulate(*parts, rounds=100, mechanism=each.mechanism, seeds=2)
    np.testing.assert_array_equal(many.regret[:2], few.regret)
    assert len({tuple(row) for row in many.regret}) == 4


def test_a_trace_is_a_table_with_a_row_for_each_seed_and_checkpoint():
    each = ready("tsallis-inf")
    trace = simulate(each.learner, each.user, each.world, rounds=100, mechanism=each.mechanism, seeds=2)
    table = trace.table()
    assert {name: column.shape for name, column in table.items()} == dict.fromkeys(("seed", "rounds", "regret"), (200,))
    assert (table["seed"][150], table["rounds"][150], table["regret"][150]) == (
        1,
        trace.rounds[50],
        trace.regret[1, 50],
    )


def test_another_seed_gives_other_runs():
    each = ready("tsallis-inf")
    first, second = (
        simulate(each.learner, each.user, each.world, rounds=100, mechanism=each.mechanism, seeds=2, seed=seed)
        for seed in (0, 1)
    )
    assert not np.array_equal(first.regret, second.regret)


def test_a_grid_is_the_same_as_its_cases_one_by_one():
    cases = [ready("linucb", epsilon=epsilon) for epsilon in (1.0, 4.0)]
    user, world = cases[0].user, cases[0].world
    grid = simulate_grid([Case(c.learner, c.mechanism) for c in cases], user, world, rounds=100, seeds=2)
    for case, trace in zip(cases, grid, strict=True):
        alone = simulate(case.learner, user, world, rounds=100, mechanism=case.mechanism, seeds=2)
        np.testing.assert_allclose(trace.regret, alone.regret, rtol=1e-9)


def test_another_budget_does_not_compile_again():
    cases = [ready("tsallis-inf", epsilon=epsilon) for epsilon in (0.5, 1.0)]
    sizes = []
    for case in cases:
        simulate(case.learner, case.user, case.world, rounds=100, mechanism=case.mechanism, seeds=2)
        sizes.append(advance_all._cache_size())
    assert sizes[0] == sizes[1]


def test_worlds_of_the_same_shape_are_not_taken_for_each_other():
    """Two worlds with as many numbers once shared a compiled loop (JAX compares such structures by fields only)."""
    each = ready("tsallis-inf")
    traces = [
        simulate(each.learner, each.user, world_of(name, arms=4), rounds=100, mechanism=each.mechanism, seeds=2)
        for name in ("arms", "switching-arms")
    ]
    assert not np.array_equal(traces[0].regret, traces[1].regret)


class Counter:
    """A learner that counts what it was told and offers how many reports it has heard of."""

    def init(self) -> jax.Array:
        return jnp.zeros(())

    def ask(self, state: jax.Array, key: jax.Array) -> sv.Offer:
        return sv.Offer(state)

    def tell(self, state: jax.Array, memo: tuple, estimate: jax.Array) -> jax.Array:
        return state + 1


class Mirror:
    """A world whose regret is the offer itself."""

    def visit(self, round: jax.Array, key: jax.Array) -> tuple:
        return ()

    def outcome(self, context: tuple, action: jax.Array, key: jax.Array) -> jax.Array:
        return jnp.zeros(())

    def regret(self, context: tuple, action: jax.Array) -> jax.Array:
        return action


@pytest.mark.parametrize(
    ("late", "heard"),
    [
        ({}, [0, 1, 2, 3, 4, 5, 6, 7]),
        ({"delay": 2}, [0, 0, 0, 1, 2, 3, 4, 5]),
        ({"publish_every": 3}, [0, 0, 0, 3, 3, 3, 6, 6]),
        ({"publish_every": 3, "delay": 2}, [0, 0, 0, 1, 1, 1, 4, 4]),
    ],
)
def test_offers_know_exactly_the_reports_that_have_arrived_and_were_published(late: dict, heard: list[int]):
    trace = simulate(Counter(), ScalarUser(), Mirror(), rounds=8, mechanism=None, seeds=2, checkpoints=8, **late)
    np.testing.assert_array_equal(np.diff(trace.regret[0], prepend=0), heard)


def test_only_checkpoints_are_kept_whatever_the_horizon():
    learner, user, world = UniformArms(arms=10), ScalarUser(), world_of("arms", arms=10)
    trace = simulate(learner, user, world, rounds=5000, mechanism=None, seeds=16, checkpoints=20)
    assert trace.regret.shape == (16, 20)
    assert trace.rounds[-1] == 5000


def test_uniform_play_has_the_regret_of_arithmetic():
    """2,000 rounds of ten arms, gap 0.2: 360 in expectation, 5 deviations of slack."""
    learner, user, world = UniformArms(arms=10), ScalarUser(), world_of("arms", arms=10)
    trace = simulate(learner, user, world, rounds=2000, mechanism=None, seeds=16, checkpoints=8)
    assert trace.regret[:, -1].mean() == pytest.approx(360, abs=5 * 0.06 * np.sqrt(2000 / 16))


def test_a_state_that_leaves_the_numbers_is_reported():
    class Broken(Counter):
        def tell(self, state, memo, estimate):
            return state / 0.0

    assert not simulate(Broken(), ScalarUser(), world_of("arms", arms=3), rounds=3, mechanism=None, seeds=1).finite


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"seeds": 0}, {"publish_every": 0}, {"delay": -1}])
def test_numbers_that_make_no_run_are_refused(wrong: dict):
    numbers = {"rounds": 10, "seeds": 1} | wrong
    with pytest.raises(ConfigurationError, match="must be at least"):
        simulate(UniformArms(arms=3), ScalarUser(), world_of("arms", arms=3), mechanism=None, **numbers)


def test_a_user_and_a_mechanism_that_mean_different_things_are_refused():
    mechanism = sv.calibrate("levels", sv.Interval(0.0, 2.0), sv.budget(1.0))
    with pytest.raises(ConfigurationError, match="the user speaks of"):
        simulate(UniformArms(arms=3), ScalarUser(), world_of("arms", arms=3), rounds=5, mechanism=mechanism)


def test_people_with_quieter_mechanisms_weigh_less():
    """With quieter people the learner knows less; the sum of the weights says how much was heard."""
    each, half = ready("kl-ucb", epsilon=4.0), ready("kl-ucb", epsilon=1.0).mechanism
    assert half is not None
    parts = (each.learner, each.user, each.world)
    run, quieter = {"mechanism": each.mechanism, "seeds": 4}, [Quieter(half, 0.25), Quieter(half, 0.25)]
    full = simulate(*parts, **run, rounds=500, checkpoints=100)
    mixed = simulate(*parts, **run, rounds=500, checkpoints=100, quieter=quieter)
    np.testing.assert_array_equal(full.state.pulls.sum(axis=1), 500)
    weight = gates_of(each.mechanism, [Quieter(half, 0.5)]).weights[1]
    heard = mixed.state.pulls.sum(axis=1)
    slack = 5 * (1 - weight) * np.sqrt(500 / 4)  # five deviations of how many are quiet
    np.testing.assert_allclose(heard, 250 + 250 * weight, atol=slack)
    plain = simulate_on_host(*parts, mechanism=each.mechanism, seeds=1, rounds=20, checkpoints=4, quieter=quieter)
    again = simulate(*parts, **run, rounds=20, checkpoints=4, quieter=quieter)
    np.testing.assert_allclose(again.state.total[:1], plain.state.total, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("learner", "share", "says"),
    [("kl-ucb", 1.5, "at most 1 in all"), ("sequential-halving", 0.5, "cannot weigh quieter reports")],
)
def test_quieter_mechanisms_that_cannot_be_are_refused(learner: str, share: float, says: str):
    each, half = ready(learner), ready("kl-ucb", epsilon=1.0).mechanism
    assert half is not None
    with pytest.raises(ConfigurationError, match=says):
        simulate(*each[1:4], rounds=60, mechanism=each.mechanism, quieter=[Quieter(half, share)])


class Threshold(NamedTuple):
    total: jax.Array
    count: jax.Array


class MyLearner:
    """Plays the smaller of two prices until the mean reward says otherwise."""

    def init(self) -> Threshold:
        return Threshold(jnp.zeros(2), jnp.full(2, 1e-3))

    def ask(self, state: Threshold, key: jax.Array) -> sv.Offer:
        explore = jax.random.uniform(key) < 0.1
        arm = jnp.where(explore, jax.random.randint(key, (), 0, 2), jnp.argmax(state.total / state.count))
        return sv.Offer(arm, arm)

    def tell(self, state: Threshold, memo: jax.Array, estimate: jax.Array) -> Threshold:
        return Threshold(state.total.at[memo].add(estimate), state.count.at[memo].add(1.0))


class MyUser:
    domain = sv.Interval(0.0, 10.0)

    def act(self, public, context, entropy):
        return public

    def message(self, public, context, action, reward):
        return self.domain.embed(reward)


class MyWorld:
    def visit(self, round, key):
        return ()

    def outcome(self, context, action, key):
        return jnp.where(action == 1, 6.0, 2.0) + jax.random.uniform(key)

    def regret(self, context, action):
        return jnp.where(action == 1, 0.0, 4.0)


def test_three_classes_of_the_readers_own_run_without_any_registry():
    mechanism = sv.calibrate("levels", MyUser.domain, sv.budget(2.0))
    trace = sv.simulate(MyLearner(), MyUser(), MyWorld(), rounds=2000, mechanism=mechanism, seeds=4)
    assert trace.finite
    assert trace.regret[:, -1].mean() < 2000 * 4 * 0.5 * 0.3


@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        ({"ask": lambda self, state, key: 0}, "Mistaken.ask must return an Offer, got int"),
        (
            {"tell": lambda self, state, memo, estimate: None},
            "Mistaken.tell must return a state like that of init, got N",
        ),
        (
            {"tell": lambda self, state, memo, estimate: jax.tree.map(lambda leaf: leaf.sum(), state)},
            "Mistaken.tell must keep the shapes and types of init: ",
        ),
    ],
)
def test_a_mistake_in_a_learner_of_the_readers_own_is_named(mistake: dict, says: str):
    learner = type("Mistaken", (MyLearner,), mistake)()
    mechanism = sv.calibrate("levels", MyUser.domain, sv.budget(2.0))
    with pytest.raises(ConfigurationError, match=re.escape(says)):
        sv.simulate(learner, MyUser(), MyWorld(), rounds=10, mechanism=mechanism, seeds=1)
