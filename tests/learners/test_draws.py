"""Numbers that learners draw and bounds that they solve for, in a few steps, are those of the libraries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from sottovoce.learners.arms.kl_ucb import KlUcb
from sottovoce.learners.draws import computed_once, gammas

DRAWS = 200_000
CHANCE = 1e-6
"""A right law is refused so often."""


def drawn(shape: float, times: float = 1.0) -> np.ndarray:
    with jax.enable_x64(True):
        return times * np.asarray(gammas(jax.random.key(7), jnp.full(DRAWS, shape)))


@pytest.mark.parametrize("shape", [0.06, 0.5, 1.0, 1.9, 2.0, 10.0, 1e6])
def test_gammas_have_their_law(shape: float):
    assert stats.kstest(drawn(shape), stats.gamma(shape).cdf).pvalue > CHANCE


@pytest.mark.parametrize("shape", [0.06, 2.0, 1e6])
def test_a_law_that_is_slightly_off_would_be_seen(shape: float):
    wrong = stats.gamma(shape).std() * 0.02
    assert stats.kstest(drawn(shape) + wrong, stats.gamma(shape).cdf).pvalue < CHANCE


def test_gammas_do_not_depend_on_the_axes_of_their_shapes():
    shapes = jnp.array([[0.06, 0.5, 1.9], [2.0, 10.0, 1e6]])
    found = gammas(jax.random.key(7), shapes)
    assert np.array_equal(np.ravel(found), gammas(jax.random.key(7), shapes.ravel()))


def test_what_is_computed_once_is_not_joined_with_what_reads_it():
    """The compiled program still calls the function; without `computed_once` it does not."""
    square = jax.jit(lambda x: jnp.sin(x) ** 2)
    calls = lambda f: " call(" in jax.jit(lambda x: f(x) + 1).lower(jnp.ones(64)).compile().as_text()  # noqa: E731
    assert not calls(square)
    assert calls(computed_once(square)) == (jax.default_backend() == "cpu")


def test_the_bernoulli_bound_is_where_the_divergence_has_its_level():
    draw = np.random.default_rng(0)
    ends = 10 ** draw.uniform(-9, 0, 400)
    mean = np.concatenate([draw.random(800), ends, 1 - ends])
    level = 10 ** draw.uniform(-8, 1, mean.size)

    def beyond(q: float, p: float, c: float) -> float:
        return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)) - c

    top = 1 - 1e-12
    wanted = [
        top if beyond(top, p, c) < 0 else brentq(beyond, p, top, args=(p, c), xtol=1e-15)
        for p, c in zip(np.clip(mean, 1e-12, top), level, strict=True)
    ]
    learner = KlUcb(
        arms=3, bounded=True, exploration=0.0, horizon=0.0, surplus=0.0, reach=1.0, proxy=1.0, tail=0.0
    )  # fmt: skip
    with jax.enable_x64(True):
        found = np.asarray(learner._bernoulli(jnp.asarray(mean), jnp.asarray(level)))
    assert np.max(np.abs(found - wanted)) < 1e-9
