"""Entries of docs/errata.md about several points, and about the length of Gaussian noise (Theorem 6 and two others).

Fixed seeds, and room of many standard deviations. Symbols are the paper's. A test that runs no code of the product says
"Arithmetic".
"""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from scipy import stats

from sottovoce import Ball, Budget, calibrate, halves, task
from sottovoce.learners.convex.multi_point import SlopeDescent
from sottovoce.privacy.grid.delta import gaussian_scale
from sottovoce.sim.random import simulation_key
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.sim.worlds import world_of

DELTA = 1e-5


@pytest.mark.parametrize(("dimension", "epsilon", "paper", "tuned"), [(2, 4.0, 808, 195), (10, 1.0, 4385, 2412)])
def test_the_step_of_the_two_point_algorithm_ignores_the_noise(
    dimension: int, epsilon: float, paper: float, tuned: float
):
    """Distance to a point at 1/2 in the unit ball, 4,000 people: never moving costs 2,000. The noise is the same."""
    published, known = (
        halves(task("two-point", "paper", dimension=dimension, rounds=4000, epsilon=epsilon, rule=rule))
        for rule in ("paper", "rms")
    )
    assert published.mechanism == known.mechanism
    cases = [Case(parts.learner, parts.mechanism) for parts in (published, known)]
    place = world_of("absolute", dimension=dimension, steepness=1.0)
    traces = simulate_grid(cases, published.user, place, rounds=4000, seeds=8, seed=0, checkpoints=1)
    found = [float(trace.regret.mean()) for trace in traces]
    assert found == pytest.approx([paper, tuned], rel=0.05)  # the figures of the page


def mean_square(learner: SlopeDescent, noise: float, draws: int = 20_000) -> float:
    """Of the gradient that the learner descends by where losses are flat: what is left is the noise of the slopes."""
    learner, keys = replace(learner, rate=1e-9), jax.random.split(simulation_key(0), draws)

    def step(key: jax.Array) -> jax.Array:
        told, asked = jax.random.split(key)
        state = learner.init()
        heard = noise * jax.random.normal(told, (learner.directions,))
        return learner.tell(state, learner.ask(state, asked).memo, heard).iterate / learner.rate

    with jax.enable_x64(True):
        return float(jnp.mean(jnp.sum(jax.jit(jax.vmap(step))(keys) ** 2, axis=1)))


def test_the_two_point_gradient_is_smaller_than_a_lipschitz_constant_suggests():
    """E||g~||^2 is d^2 sigma^2; the paper's G + sigma sqrt(d) makes it d^3 sigma^2, hence its d^3 and epsilon^2."""
    d = 10
    learner = halves(task("two-point", "paper", dimension=d, rounds=1000, epsilon=1.0)).learner
    assert isinstance(learner, SlopeDescent)
    assert mean_square(learner, 1.0) == pytest.approx(d**2, rel=0.06)  # six standard errors


def test_more_than_two_points_help_under_local_privacy():
    """K = 2m points, m orthogonal slopes clipped to a ball and made private together: the noise falls like 1/m."""
    d, m = 10, 5
    noise = calibrate("gaussian", Ball(m), Budget(1.0, DELTA)).scales[0]
    assert noise == pytest.approx(2 * gaussian_scale(1.0, DELTA), rel=1e-3)  # it does not grow with m
    learner = halves(task("k-point", dimension=d, rounds=1000, epsilon=1.0, directions=m)).learner
    assert isinstance(learner, SlopeDescent)
    assert mean_square(learner, noise) == pytest.approx((d * noise) ** 2 / m, rel=0.06)


@pytest.mark.parametrize(("dimension", "chance"), [(1, 0.32), (2, 0.37), (5, 0.42), (10, 0.44), (100, 0.48)])
def test_the_length_of_gaussian_noise_exceeds_its_high_probability_bound_half_of_the_time(
    dimension: int, chance: float
):
    """Arithmetic. ||h_t|| <= sigma sqrt(d t): chi-square, so at every t. And for all of a thousand rounds at once."""
    exceeded = float(stats.chi2.sf(dimension, dimension))
    assert exceeded == pytest.approx(chance, abs=0.005)
    assert (1 - exceeded) ** 1000 < 1e-150  # the event on which the lemma on gradient descent conditions
    enough = (math.sqrt(dimension) + math.sqrt(2 * math.log(1000))) ** 2
    assert stats.chi2.sf(enough, dimension) < 1e-3
