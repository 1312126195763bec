"""The laws of the mechanisms, in JAX and in NumPy, are those of the exact draws, and the test that says so can fail."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from sottovoce import Ball, Budget, Gradient, Interval, Moments, calibrate, privatise
from sottovoce.privacy.mechanisms import MECHANISMS, name_of
from sottovoce.sim.gates import channel_of
from sottovoce.sim.random import normals, simulation_key

X = np.array([0.6, -0.3, 0.5])
CASES = [
    *((calibrate("levels", Interval(), Budget(e)), Interval().embed(0.3)) for e in (1.0, 4.0, 8.0)),
    *((calibrate("sphere", Ball(3), Budget(e)), Ball(3).embed(X)) for e in (1.0, 4.0, 10.0)),
    (calibrate("sphere", Moments(3), Budget(2.0)), Moments(3).embed(X, -0.7)),
    (calibrate("sphere", Gradient(3, 0.5), Budget(2.0)), Gradient(3, 0.5).embed(X, 0.4)),
    (calibrate("gaussian", Moments(3), Budget(2.0, 1e-5)), Moments(3).embed(X, -0.7)),
    (calibrate("gaussian", Moments(3, 2.0), Budget(2.0, 1e-5), "paper"), Moments(3, 2.0).embed(X, -0.7)),
    (calibrate("laplace", Moments(3), Budget(2.0)), Moments(3).embed(X, -0.7)),
    (calibrate("laplace", Interval(), Budget(1.0)), Interval().embed(0.9)),
]
TRIALS = 3000
ALARM = 1e-6


def exact(mechanism, message: np.ndarray) -> np.ndarray:
    return mechanism.decode([privatise(mechanism, message) for _ in range(TRIALS)])


def simulated(mechanism, message: np.ndarray, trials: int = 20 * TRIALS) -> np.ndarray:
    with jax.enable_x64(True):
        channel = jax.tree.map(jnp.asarray, channel_of(mechanism))
        keys = jax.random.split(simulation_key(3), trials)
        return np.array(jax.vmap(lambda key: channel.draw(jnp.asarray(message), key))(keys))


class NumpyRandom:
    """The randomness of a law in NumPy; one generator serves all draws."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator

    def split(self) -> tuple["NumpyRandom", "NumpyRandom"]:
        return self, self

    def uniforms(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.asarray(self.generator.random(shape))

    def normals(self, shape: tuple[int, ...]) -> np.ndarray:
        return self.generator.normal(size=shape)

    def laplaces(self, shape: tuple[int, ...]) -> np.ndarray:
        return self.generator.laplace(size=shape)


def in_numpy(mechanism, message: np.ndarray) -> np.ndarray:
    law, random = mechanism.law(), NumpyRandom(np.random.default_rng(4))
    return np.array([law.draw(message, random) for _ in range(3 * TRIALS)])


def projections(message: np.ndarray) -> np.ndarray:
    """Where to look: along the message, and along fixed random directions."""
    rng = np.random.default_rng(0)
    directions = np.vstack([message / np.linalg.norm(message), rng.standard_normal((3, len(message)))])
    return directions.T if len(message) > 1 else np.ones((1, 1))


def smallest_p_value(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Kolmogorov-Smirnov for continuous, chi-square for discrete estimates; Bonferroni over the directions."""
    values = np.unique(np.round(np.concatenate([ours, theirs]), 9))
    if len(values) <= 64:
        tables = [[np.isclose(sample, v, atol=1e-8).sum() for v in values] for sample in (ours, theirs)]
        return float(stats.chi2_contingency(tables).pvalue)
    tests = [stats.ks_2samp(ours[:, i], theirs[:, i]).pvalue for i in range(ours.shape[1])]
    return min(tests) * len(tests)


@pytest.mark.parametrize(
    ("mechanism", "message"), CASES, ids=lambda part: name_of(part) if hasattr(part, "budget") else ""
)
def test_exact_and_simulated_reports_have_the_same_law(mechanism, message):
    """The exact path draws from the operating system: false-alarm rate 1e-6 for each case."""
    look = projections(message)
    ours = exact(mechanism, message) @ look
    assert smallest_p_value(ours, simulated(mechanism, message) @ look) > ALARM
    assert smallest_p_value(ours, in_numpy(mechanism, message) @ look) > ALARM


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_the_comparison_fails_for_the_wrong_budget(name: str):
    """Power: a simulated mechanism at one and a half times the epsilon is told apart from the exact one."""
    domain = Interval() if name == "levels" else Ball(3)
    delta = 1e-5 if name == "gaussian" else 0.0
    message = domain.embed(0.3 if name == "levels" else X)
    right, wrong = (calibrate(name, domain, Budget(e, delta)) for e in (1.0, 1.5))
    look = projections(message)
    assert smallest_p_value(exact(right, message) @ look, simulated(wrong, message) @ look) < ALARM


def test_every_mechanism_of_the_registry_is_compared():
    assert {name_of(mechanism) for mechanism, _ in CASES} == set(MECHANISMS)


def test_simulation_keys_are_uniform_independent_and_repeatable():
    with jax.enable_x64(True):
        draws = np.array(
            jax.vmap(lambda key: jax.random.uniform(key, (4,)))(jax.random.split(simulation_key(0), 20_000))
        )
        again = np.array(
            jax.vmap(lambda key: jax.random.uniform(key, (4,)))(jax.random.split(simulation_key(0), 20_000))
        )
    assert np.array_equal(draws, again)
    assert stats.kstest(draws.ravel(), "uniform").pvalue > ALARM
    assert np.abs(np.corrcoef(draws.T) - np.eye(4)).max() < 4.9 / np.sqrt(20_000)


def test_normals_are_those_of_jax_whatever_their_axes():
    """They are drawn in one row and compiled apart; neither changes a number."""
    key = simulation_key(5)
    with jax.enable_x64(True):
        plain = jax.random.normal(key, (4, 5), np.float32)
        assert np.array_equal(normals(key, (4, 5)), plain)
        assert np.array_equal(jax.jit(jax.vmap(lambda key: normals(key, (4, 5))))(key[None])[0], plain)
