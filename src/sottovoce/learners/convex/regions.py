"""Convex regions: the sets whose points are the actions.

A learner moves in free coordinates z, where the origin lies well inside: ball(inner) is in the region and the region is
in ball(outer). `place` turns z into the point that is played; it is the identity but for the simplex, whose points obey
one equation. Every region has a projection onto its shrunken copies and a self-concordant barrier with parameter nu.
"""

import math
from collections.abc import Mapping
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from sottovoce.learners.base import Key, configuration
from sottovoce.protocol.errors import ConfigurationError, UnknownName


class Region(Protocol):
    """What learners and worlds know of a convex set."""

    @property
    def size(self) -> int:
        """How many free coordinates there are."""
        ...

    @property
    def inner(self) -> Any: ...

    @property
    def outer(self) -> Any: ...

    @property
    def nu(self) -> float: ...

    def place(self, free: jax.Array) -> jax.Array: ...

    def project(self, free: jax.Array, shrink: Any = 1.0) -> jax.Array: ...

    def gauge(self, free: jax.Array) -> jax.Array:
        """The least s >= 0 with z in s times the region: at most 1 inside."""
        ...

    def slope(self, free: jax.Array) -> jax.Array:
        """The barrier's gradient."""
        ...

    def hessian(self, free: jax.Array) -> jax.Array:
        """The barrier's second derivative."""
        ...

    def uniform(self, key: Key) -> jax.Array:
        """A uniformly random point, in free coordinates."""
        ...


@configuration("size")
class Ball:
    """||z|| <= radius, with the barrier -ln(radius^2 - ||z||^2)."""

    size: int
    radius: float = 1.0

    @property
    def inner(self) -> float:
        return self.radius

    @property
    def outer(self) -> float:
        return self.radius

    @property
    def nu(self) -> float:
        return 1.0

    def place(self, free: jax.Array) -> jax.Array:
        return free

    def project(self, free: jax.Array, shrink: Any = 1.0) -> jax.Array:
        return free * jnp.minimum(1.0, shrink * self.radius / jnp.maximum(norm(free), 1e-300))

    def gauge(self, free: jax.Array) -> jax.Array:
        return norm(free) / self.radius

    def slope(self, free: jax.Array) -> jax.Array:
        return 2 * free / (self.radius**2 - free @ free)

    def hessian(self, free: jax.Array) -> jax.Array:
        room = self.radius**2 - free @ free
        return 2 * jnp.eye(self.size) / room + 4 * jnp.outer(free, free) / room**2

    def uniform(self, key: Key) -> jax.Array:
        direction, distance = jax.random.split(key)
        far = jax.random.uniform(distance) ** (1 / self.size)
        return self.radius * far * on_sphere(direction, self.size)


@configuration("size")
class Box:
    """|z_i| <= radius, with the barrier -sum ln(radius^2 - z_i^2)."""

    size: int
    radius: float = 1.0

    @property
    def inner(self) -> float:
        return self.radius

    @property
    def outer(self) -> float:
        return self.radius * math.sqrt(self.size)

    @property
    def nu(self) -> float:
        return 2.0 * self.size

    def place(self, free: jax.Array) -> jax.Array:
        return free

    def project(self, free: jax.Array, shrink: Any = 1.0) -> jax.Array:
        return jnp.clip(free, -shrink * self.radius, shrink * self.radius)

    def gauge(self, free: jax.Array) -> jax.Array:
        return jnp.max(jnp.abs(free)) / self.radius

    def slope(self, free: jax.Array) -> jax.Array:
        return 2 * free / (self.radius**2 - free**2)

    def hessian(self, free: jax.Array) -> jax.Array:
        room = self.radius**2 - free**2
        return jnp.diag(2 / room + 4 * free**2 / room**2)

    def uniform(self, key: Key) -> jax.Array:
        return jax.random.uniform(key, (self.size,), minval=-1.0, maxval=1.0) * self.radius


@configuration("size")
class Polytope:
    """rows @ z <= bounds with bounds > 0 (the origin is inside), with the barrier -sum ln(bounds - rows @ z)."""

    size: int
    rows: Any
    bounds: Any
    extent: float
    """The radius of a ball that holds the polytope."""

    @property
    def inner(self) -> Any:
        return jnp.min(self.bounds / jnp.sqrt(jnp.sum(jnp.asarray(self.rows) ** 2, axis=1)))

    @property
    def outer(self) -> float:
        return self.extent

    @property
    def nu(self) -> float:
        return float(len(self.bounds))

    def place(self, free: jax.Array) -> jax.Array:
        return free

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
        return walk(self, key)


@configuration("size")
class Simplex:
    """Probability vectors of size + 1 entries: x = 1/n + basis @ z with an orthonormal basis of the sum-zero vectors.

    Distances are those of the probability vectors. The barrier is -sum ln x_i.
    """

    size: int

    @property
    def basis(self) -> Any:
        """Helmert's basis: columns are orthonormal and sum to zero."""
        n = self.size + 1
        columns = np.tril(np.ones((n, n)), -1).T[:, 1:].copy()
        for k in range(1, n):
            columns[k, k - 1] = -k
            columns[:, k - 1] /= math.sqrt(k * (k + 1))
        return columns

    @property
    def inner(self) -> float:
        return 1 / math.sqrt(self.size * (self.size + 1))

    @property
    def outer(self) -> float:
        return math.sqrt(self.size / (self.size + 1))

    @property
    def nu(self) -> float:
        return float(self.size + 1)

    def place(self, free: jax.Array) -> jax.Array:
        return 1 / (self.size + 1) + self.basis @ free

    def project(self, free: jax.Array, shrink: Any = 1.0) -> jax.Array:
        """The nearest probability vector with entries of at least (1 - shrink)/n, by sorting (Held et al. 1974)."""
        least = (1 - shrink) / (self.size + 1)
        entries = self.place(free) - least
        falling = jnp.sort(entries)[::-1]
        over = (jnp.cumsum(falling) - shrink) / jnp.arange(1, self.size + 2)
        count = jnp.sum(falling > over)
        cut = jnp.sum(jnp.where(jnp.arange(self.size + 1) == count - 1, over, 0.0))
        return self.basis.T @ (jnp.maximum(entries - cut, 0.0) + least)

    def gauge(self, free: jax.Array) -> jax.Array:
        return jnp.maximum(jnp.max(-(self.size + 1) * (self.basis @ free)), 0.0)

    def slope(self, free: jax.Array) -> jax.Array:
        return -self.basis.T @ (1 / self.place(free))

    def hessian(self, free: jax.Array) -> jax.Array:
        scaled = self.basis / self.place(free)[:, None]
        return scaled.T @ scaled

    def uniform(self, key: Key) -> jax.Array:
        waits = -jnp.log1p(-jax.random.uniform(key, (self.size + 1,)))
        return self.basis.T @ (waits / jnp.sum(waits))


def region_of(description: Mapping[str, Any], dimension: int) -> Region:
    """The region that a task describes: kind and numbers; a polytope by `rows` and `bounds`.

    >>> region_of({"kind": "simplex"}, 3).size
    2
    """
    numbers = dict(description)
    kind = numbers.pop("kind", None)
    if kind in ("ball", "box") and set(numbers) <= {"radius"}:
        radius = float(numbers.get("radius", 1.0))
        if not (math.isfinite(radius) and radius > 0):
            raise ConfigurationError(f"the radius of a {kind} must be a positive number, got {radius!r}")
        return Ball(size=dimension, radius=radius) if kind == "ball" else Box(size=dimension, radius=radius)
    if kind == "simplex" and not numbers:
        if dimension < 2:
            raise ConfigurationError(f"a simplex needs a dimension of at least 2, got {dimension}")
        return Simplex(size=dimension - 1)
    if kind == "polytope" and set(numbers) == {"rows", "bounds"}:
        return polytope(numbers["rows"], numbers["bounds"], dimension)
    if kind in ("ball", "box", "simplex", "polytope"):
        wanted = {"ball": "radius", "box": "radius", "polytope": "rows and bounds"}.get(kind, "no numbers")
        raise ConfigurationError(f"a region of kind {kind} takes {wanted}, got {sorted(numbers)}")
    raise UnknownName("region", str(kind), ["ball", "box", "simplex", "polytope"])


def polytope(rows: Any, bounds: Any, dimension: int) -> Polytope:
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
    return Polytope(size=dimension, rows=faces, bounds=limits, extent=extent)


def _corners(faces: np.ndarray, limits: np.ndarray) -> list[np.ndarray]:
    from itertools import combinations

    dimension = faces.shape[1]
    if math.comb(len(limits), dimension) > 20_000:
        raise ConfigurationError(f"a polytope with {len(limits)} faces in {dimension} dimensions has too many corners")
    found = []
    for chosen in combinations(range(len(limits)), dimension):
        square = faces[list(chosen)]
        if abs(np.linalg.det(square)) > 1e-12:
            found.append(np.linalg.solve(square, limits[list(chosen)]))
    return found


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


def project_on_faces(free: jax.Array, rows: Any, bounds: jax.Array, sweeps: int = 60) -> jax.Array:
    """The nearest point with rows @ z <= bounds by Hildreth's dual sweeps; what is left outside is pulled in."""
    rows = jnp.asarray(rows)
    squares = jnp.sum(rows**2, axis=1)

    def face(i: int, carried: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        point, duals = carried
        step = jnp.maximum((rows[i] @ point - bounds[i]) / squares[i], -duals[i])
        return point - step * rows[i], duals.at[i].add(step)

    def sweep(_: int, carried: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        return lax.fori_loop(0, len(bounds), face, carried)

    point, _ = lax.fori_loop(0, sweeps, sweep, (free, jnp.zeros(len(bounds))))
    return point / jnp.maximum(jnp.max(rows @ point / bounds), 1.0)


def walk(region: Region, key: Key, steps: int = 60) -> jax.Array:
    """A nearly uniform point by hit-and-run from the origin."""

    def step(point: jax.Array, key: Key) -> tuple[jax.Array, None]:
        way, far = jax.random.split(key)
        direction = on_sphere(way, region.size)
        ahead, behind = chord(region, point, direction), chord(region, point, -direction)
        return point + (jax.random.uniform(far) * (ahead + behind) - behind) * direction, None

    return lax.scan(step, jnp.zeros(region.size), jax.random.split(key, steps))[0]


def chord(region: Region, point: jax.Array, direction: jax.Array) -> jax.Array:
    """How far one can go from an inner point in this direction, by bisection on the gauge."""

    def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = ends
        middle = (low + high) / 2
        inside = region.gauge(point + middle * direction) <= 1
        return jnp.where(inside, middle, low), jnp.where(inside, high, middle)

    return lax.fori_loop(0, 40, halve, (jnp.zeros(()), jnp.asarray(2.0 * region.outer)))[0]


def norm(vector: jax.Array) -> jax.Array:
    return jnp.sqrt(vector @ vector)


def on_sphere(key: Key, size: int) -> jax.Array:
    """A uniformly random direction."""
    direction = jax.random.normal(key, (size,))
    return direction / norm(direction)
