"""Polytopes: the points on the inner side of every face."""

import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from sottovoce.learners.base import Key, configuration
from sottovoce.learners.convex.regions.base import Region, on_sphere
from sottovoce.protocol.errors import ConfigurationError


@configuration("size")
class PolytopeRegion(Region):
    """rows @ z <= bounds with bounds > 0 (the origin is inside), with the barrier -sum ln(bounds - rows @ z)."""

    size: int
    rows: Any
    bounds: Any
    extent: float
    """The radius of a ball that holds the polytope."""

    inner = property(lambda self: jnp.min(self.bounds / jnp.sqrt(jnp.sum(jnp.asarray(self.rows) ** 2, axis=1))))
    outer = property(lambda self: self.extent)
    nu = property(lambda self: float(len(self.bounds)))

    def project(self, free: jax.Array, shrink: Any = 1.0) -> jax.Array:
        return project_on_faces(free, self.rows, shrink * jnp.asarray(self.bounds))

    def gauge(self, free: jax.Array) -> jax.Array:
        return jnp.maximum(jnp.max(self.rows @ free / self.bounds), 0.0)

    def slope(self, free: jax.Array) -> jax.Array:
        return (1 / (self.bounds - self.rows @ free)) @ self.rows

    def hessian(self, free: jax.Array) -> jax.Array:
        scaled = jnp.asarray(self.rows) / (self.bounds - self.rows @ free)[:, None]
        return scaled.T @ scaled

    def uniform(self, key: Key) -> jax.Array:
        """A nearly uniform point, by hit-and-run from the origin."""

        def step(point: jax.Array, key: Key) -> tuple[jax.Array, None]:
            way, far = jax.random.split(key)
            direction = on_sphere(way, self.size)
            ahead, behind = self._chord(point, direction), self._chord(point, -direction)
            return point + (jax.random.uniform(far) * (ahead + behind) - behind) * direction, None

        return lax.scan(step, jnp.zeros(self.size), jax.random.split(key, 60))[0]

    def _chord(self, point: jax.Array, direction: jax.Array) -> jax.Array:
        """How far one can go from an inner point in this direction, by bisection on the gauge."""

        def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            low, high = ends
            middle = (low + high) / 2
            inside = self.gauge(point + middle * direction) <= 1
            return jnp.where(inside, middle, low), jnp.where(inside, high, middle)

        return lax.fori_loop(0, 40, halve, (jnp.zeros(()), jnp.asarray(2.0 * self.outer)))[0]


def polytope(rows: Any, bounds: Any, dimension: int) -> PolytopeRegion:
    """The polytope rows @ z <= bounds, checked: bounded, and with the origin inside.

    >>> polytope([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [1.0, 1.0, 1.0], 2).size
    2
    """
    faces, limits = np.asarray(rows, dtype=float), np.asarray(bounds, dtype=float)
    if faces.ndim != 2 or faces.shape != (len(limits), dimension):
        raise ConfigurationError(f"rows must be {len(limits)} of length {dimension}, got shape {faces.shape}")
    if not np.all(limits > 0):
        raise ConfigurationError("every bound of a polytope must be positive: move the origin inside")
    corners = [c for c in _corners(faces, limits) if np.all(faces @ c <= limits * (1 + 1e-9))]
    if not _bounded(faces) or not corners:
        raise ConfigurationError("this polytope is unbounded; add rows that close it")
    extent = max(float(np.linalg.norm(corner)) for corner in corners)
    return PolytopeRegion(size=dimension, rows=faces, bounds=limits, extent=extent)


def _corners(faces: np.ndarray, limits: np.ndarray) -> list[np.ndarray]:
    dimension = faces.shape[1]
    if math.comb(len(limits), dimension) > 20_000:
        raise ConfigurationError(f"a polytope with {len(limits)} faces in {dimension} dimensions has too many corners")
    chosen = map(list, itertools.combinations(range(len(limits)), dimension))
    return [np.linalg.solve(faces[c], limits[c]) for c in chosen if abs(np.linalg.det(faces[c])) > 1e-12]


def _bounded(faces: np.ndarray) -> bool:
    """No direction z != 0 has faces @ z <= 0: the least value of max(faces @ z) over the sphere is positive.

    By projection: 0 is inside the hull of the normals exactly if the nearest point of the hull's cone to any vector is
    the vector itself; non-negative least squares for plus and minus every axis decides that.
    """
    targets = np.vstack([np.eye(faces.shape[1]), -np.eye(faces.shape[1])])
    return all(_cone_distance(faces, target) < 1e-6 for target in targets)


def _cone_distance(faces: np.ndarray, target: np.ndarray) -> float:
    """How far `target` is from the cone of the rows: projected gradient on the weights, which is convex."""
    weights = np.zeros(len(faces))
    step = 1 / np.linalg.norm(faces, 2) ** 2
    for _ in range(20_000):
        residual = weights @ faces - target
        if np.linalg.norm(residual) < 1e-7:
            break
        weights = np.maximum(weights - step * (faces @ residual), 0.0)
    return float(np.linalg.norm(weights @ faces - target))


def project_on_faces(free: jax.Array, rows: Any, bounds: jax.Array) -> jax.Array:
    """The nearest point with rows @ z <= bounds by Hildreth's dual sweeps; what is left outside is pulled in."""
    rows = jnp.asarray(rows)
    squares = jnp.sum(rows**2, axis=1)

    def face(i: int, carried: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        point, duals = carried
        step = jnp.maximum((rows[i] @ point - bounds[i]) / squares[i], -duals[i])
        return point - step * rows[i], duals.at[i].add(step)

    def sweep(_: int, carried: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        return lax.fori_loop(0, len(bounds), face, carried)

    point, _ = lax.fori_loop(0, 60, sweep, (free, jnp.zeros(len(bounds))))
    return point / jnp.maximum(jnp.max(rows @ point / bounds), 1.0)
