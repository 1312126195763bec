"""Regions against what they are by definition: distances, derivatives, membership."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from sottovoce.learners.convex.regions import region_of
from sottovoce.protocol.errors import ConfigurationError, UnknownName
from sottovoce.sim.random import seed_keys

TRIANGLE = {"kind": "polytope", "rows": [[1.0, 0.2], [-0.3, 1.0], [-0.6, -1.0]], "bounds": [0.7, 0.5, 0.9]}
ALL = [
    ({"kind": "ball", "radius": 1.5}, 3),
    ({"kind": "box", "radius": 0.7}, 3),
    ({"kind": "simplex"}, 4),
    (TRIANGLE, 2),
]
BARRIERS = {
    "ball": lambda region, z: -jnp.log(region.radius**2 - z @ z),
    "box": lambda region, z: -jnp.sum(jnp.log(region.radius**2 - z**2)),
    "simplex": lambda region, z: -jnp.sum(jnp.log(region.place(z))),
    "polytope": lambda region, z: -jnp.sum(jnp.log(region.bounds - region.rows @ z)),
}


@pytest.fixture(params=ALL, ids=lambda pair: pair[0]["kind"])
def region(request: pytest.FixtureRequest):
    description, dimension = request.param
    with jax.enable_x64(True):
        yield region_of(description, dimension)


def kind(region) -> str:
    return type(region).__name__.removesuffix("Region").lower()


def directions(region, seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, region.size))


def over_all(function: Callable, values):
    """One compiled call for all of the values."""
    return jax.jit(jax.vmap(function))(values)


def test_the_barrier_has_the_derivatives_it_says(region):
    z = 0.6 * region.inner * np.ones(region.size) / np.sqrt(region.size)
    barrier = lambda z: BARRIERS[kind(region)](region, z)  # noqa: E731
    derivatives = lambda z: (region.slope(z), jax.grad(barrier)(z), region.hessian(z), jax.hessian(barrier)(z))  # noqa: E731
    slope, first, hessian, second = jax.jit(derivatives)(z)
    np.testing.assert_allclose(slope, first, rtol=1e-9)
    np.testing.assert_allclose(hessian, second, rtol=1e-9)


def test_the_barrier_parameter_bounds_the_newton_decrement(region):
    """The parameter nu >= slope' hessian^-1 slope everywhere inside; nearly reached near the edge."""

    def near_the_edge(direction: jax.Array) -> tuple[jax.Array, jax.Array]:
        z = direction * (0.999 / region.gauge(direction))
        return region.slope(z), region.hessian(z)

    slopes, hessians = map(np.array, over_all(near_the_edge, directions(region, 3, 50)))
    worst = max(slope @ np.linalg.solve(hessian, slope) for slope, hessian in zip(slopes, hessians, strict=True))
    assert 0.5 <= worst <= region.nu * (1 + 1e-6)


def test_a_projection_is_the_nearest_point(region):
    """Against a general solver, for points outside and shrunken regions too."""
    gauge, project = jax.jit(region.gauge), jax.jit(region.project)
    for number, shrink in enumerate((1.0, 0.8)):
        z = np.random.default_rng(number).normal(size=region.size) * 2 * region.outer
        found = np.array(project(z, shrink))
        assert float(gauge(found)) <= shrink + 1e-9
        room = {"type": "ineq", "fun": lambda x, s=shrink: s - float(gauge(x))}
        best = minimize(lambda x, z=z: np.sum((x - z) ** 2), 0 * z, constraints=room, method="COBYLA", tol=1e-9)
        assert np.linalg.norm(found - z) <= np.linalg.norm(best.x - z) + 1e-4


def test_points_inside_stay_where_they_are(region):
    z = np.full(region.size, 0.3 * region.inner / np.sqrt(region.size))
    np.testing.assert_allclose(jax.jit(region.project)(z), z, atol=1e-12)


def test_inner_and_outer_balls_and_the_gauge_agree(region):
    drawn = directions(region, 5, 200)
    edges = np.linalg.norm(drawn, axis=1) / over_all(region.gauge, drawn)
    assert np.all(region.inner * (1 - 1e-9) <= edges)
    assert np.all(edges <= region.outer * (1 + 1e-9))


def test_random_points_are_inside_and_everywhere(region):
    gauge_of_one = lambda key: region.gauge(region.uniform(key))  # noqa: E731
    gauges = np.array(over_all(gauge_of_one, seed_keys(1, 400)))
    assert gauges.max() <= 1 + 1e-6
    # A uniform point has gauge at most s with probability s^size; 400 draws, false-alarm rate below 1e-6.
    assert np.mean(gauges <= 0.8) == pytest.approx(0.8**region.size, abs=0.13)


def test_a_simplex_plays_probability_vectors():
    with jax.enable_x64(True):
        simplex = region_of({"kind": "simplex"}, 5)
        x = np.array(jax.jit(lambda z: simplex.place(simplex.project(z)))(np.array([3.0, -1.0, 2.0, 0.5])))
    assert x.sum() == pytest.approx(1.0)
    assert x.min() >= -1e-12


@pytest.mark.parametrize(
    ("description", "dimension", "says"),
    [
        ({"kind": "cube"}, 2, "unknown region 'cube'; choose one of: ball, box, polytope, simplex"),
        ({"kind": "ball", "radius": -1.0}, 2, "the radius of a ball must be a positive number, got -1.0"),
        ({"kind": "simplex"}, 1, "a simplex needs a dimension of at least 2, got 1"),
        ({"kind": "ball", "rows": []}, 2, "a region of kind ball takes radius, got ['rows']"),
        ({"kind": "polytope", "rows": [[1.0, 0.0], [0.0, 1.0]], "bounds": [1.0, 1.0]}, 2, "this polytope is unbounded"),
        ({"kind": "polytope", "rows": [[1.0, 0.0]], "bounds": [-1.0]}, 2, "every bound of a polytope must be positive"),
        ({"kind": "polytope", "rows": [[1.0]], "bounds": [1.0]}, 2, "rows must be 1 of length 2, got shape (1, 1)"),
    ],
)
def test_a_region_that_makes_no_sense_is_refused(description: dict, dimension: int, says: str):
    with pytest.raises((ConfigurationError, UnknownName)) as refused:
        region_of(description, dimension)
    assert str(refused.value).startswith(says)
