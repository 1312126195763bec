"""Learners that look for the best arm: they stop, they are right, and nothing happens afterwards."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from catalogue import ready
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.sim.host import simulate_on_host
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of

EASY = {"arms": 3, "rewards": [0.95, 0.4, 0.3]}


def test_lil_ucb_finds_the_best_arm_and_stops_asking():
    """Fixed seeds, confidence 0.95: 40 runs, at most four wrong (more has probability 4.8 % at exactly 95 %)."""
    each = ready("lil-ucb", epsilon=1.0, arms=3, rounds=20_000)
    trace = simulate(
        each.learner, each.user, world_of("arms", **EASY), rounds=20_000, mechanism=each.mechanism, seeds=40
    )
    assert trace.stopped.all()
    assert trace.correct is not None
    assert trace.correct.sum() >= 36
    assert np.all(trace.samples == trace.state.pulls.sum(axis=1))
    late = trace.rounds > trace.samples.max()
    assert late.any()
    assert np.all(np.diff(trace.regret[:, late], axis=1) == 0)


def test_more_noise_takes_more_samples():
    samples = {}
    for epsilon in (1.0, 4.0):
        each = ready("lil-ucb", epsilon=epsilon, arms=3, rounds=20_000)
        world = world_of("arms", **EASY)
        trace = simulate(each.learner, each.user, world, rounds=20_000, mechanism=each.mechanism, seeds=20)
        samples[epsilon] = trace.samples.mean()
    assert samples[1.0] > 2 * samples[4.0]


def test_a_run_that_is_too_short_says_that_it_did_not_stop():
    each = ready("lil-ucb", arms=3, rounds=10)
    trace = simulate(each.learner, each.user, world_of("arms", **EASY), rounds=10, mechanism=each.mechanism, seeds=4)
    assert not trace.stopped.any()
    assert np.all(trace.samples == 10)


def test_the_plain_loop_stops_at_the_same_person():
    """In a world so easy that the learner stops after 34 of 40 people."""
    each = ready("lil-ucb", epsilon=8.0, arms=3, rounds=40)
    parts = (each.learner, each.user, world_of("arms", arms=3, rewards=[0.95, 0.05, 0.05]))
    compiled = simulate(*parts, rounds=40, mechanism=each.mechanism, seeds=1)
    plain = simulate_on_host(*parts, rounds=40, mechanism=each.mechanism, seeds=1)
    assert compiled.stopped.any()
    assert compiled.samples < 40
    np.testing.assert_array_equal(compiled.samples, plain.samples)
    np.testing.assert_array_equal(compiled.recommended, plain.recommended)
    np.testing.assert_array_equal(compiled.correct, plain.correct)


def test_lil_ucb_does_not_stop_before_every_arm_was_heard():
    learner = ready("lil-ucb", "paper").learner
    with jax.enable_x64(True):
        state = learner.init()
        assert not learner.done(state)
        state = state._replace(pulls=jnp.asarray([1000.0, 1.0, 0.0, 1.0]))
        assert not learner.done(state)
        assert learner.done(state._replace(pulls=jnp.asarray([1000.0, 1.0, 1.0, 1.0])))


def test_laplace_noise_is_refused_by_what_needs_sub_gaussian_estimates():
    from sottovoce import Budget, Interval, calibrate, noise_of
    from sottovoce.learners import learner_of

    noise = noise_of(calibrate("laplace", Interval(), Budget(1.0)))
    with pytest.raises(ConfigurationError, match="sub-Gaussian"):
        learner_of(ready("lil-ucb").task, noise)


def test_rewards_of_your_own_need_one_number_per_arm():
    with pytest.raises(ConfigurationError, match="one number per arm: 3, got 2"):
        world_of("arms", arms=3, rewards=[0.1, 0.2])
