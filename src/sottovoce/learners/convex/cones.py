"""Flat pyramids in the unit ball, the cones beyond their apexes, and the ball without such a cone: for `pyramid.py`.

A pyramid has its apex y in the ball. Its d edges lean from the axis y by phi/2 and end where they touch the sphere
around the centre.

    cos(phi/2) -> lean    the published edges, times this -> reach

The cut in closed form. Let the cone open upwards from height a on the axis. It holds a round cone that touches its d
sides along their middle lines: a base of circumradius q has inradius q/(d - 1), so the slope of those lines is
k = (d - 1)/tan(phi/2). They leave the ball at the height t = a + k sqrt(1 - t^2), and at every lower height the sphere
has a point outside the cone. The least ellipsoid around ball minus cone is unique, so it shares the symmetries of the
base, whose only invariant ellipsoids are round about the axis. With a point it holds the circle through it, hence all
of the sphere up to height t and the hull of that, {x in ball: height <= t}, which in turn holds ball minus cone. So it
is the least ellipsoid around a ball cut by a plane (Bland, Goldfarb and Todd, Oper. Res. 1981): `enclosing`. It is
smaller than the ball exactly if t < 1/d. With the published constants that fails above dimension 32, for raised hats
above 17, as we read the construction: phi/2 is the angle between axis and edge, and the base lies in the plane of the
points of contact, at the height (1 - lean^2) |y|.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp

from sottovoce.learners.convex.regions import helmert, norm

DEEPEST = -0.5
"""The height of the deepest cut. A shallower cut than could be made is still right."""


def corners_of(apex: jax.Array, lean: Any, reach: Any) -> jax.Array:
    """The d + 1 corners of a pyramid about the centre, the apex first.

    >>> [[round(float(x), 2) for x in corner] for corner in corners_of(jnp.array([0.0, 1.0]), 0.6, 1.0)]
    [[0.0, 1.0], [0.48, 0.64], [-0.48, 0.64]]
    """
    d, far = len(apex), norm(apex)
    axis = apex / far
    around = jnp.hstack([regular_simplex(d - 1), jnp.zeros((d, 1))]) @ _mirror(axis)
    edges = jnp.sqrt(1 - lean**2) * around - lean * axis
    return jnp.vstack([apex, apex + reach * far * lean * edges])


def regular_simplex(dimension: int) -> jax.Array:
    """Points of the unit sphere, one more than there are dimensions, equally far from each other."""
    return jnp.asarray(helmert(dimension)) * math.sqrt((dimension + 1) / dimension)


def heights_of(dimension: int, lean: Any, reach: Any, lift: Any) -> tuple[Any, Any]:
    """Of the cone beyond an apex at height 1, raised by `lift` of the pyramid: the height of its tip, and its slope."""
    return 1 + lift * reach * lean**2, (1 + lift) * (dimension - 1) * lean / (1 - lean**2) ** 0.5


def rim(height: Any, slope: Any) -> Any:
    """Where the round cone with its tip at this height leaves the unit sphere: t = height + slope sqrt(1 - t^2).

    >>> round(float(rim(0.2, 0.1)), 4)
    0.2955
    """
    return (height + slope * (1 + slope**2 - height**2) ** 0.5) / (1 + slope**2)


def enclosing(dimension: int, height: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The least ellipsoid around the unit ball below a plane: how far it sinks, its half-axes along and across.

    >>> [round(float(number), 4) for number in enclosing(2, 0.0)]
    [0.3333, 0.6667, 1.1547]
    """
    d, t = dimension, jnp.clip(height, DEEPEST, 1 / dimension)
    return (1 - d * t) / (d + 1), d * (1 + t) / (d + 1), d * jnp.sqrt((1 - t**2) / (d**2 - 1))


def _mirror(axis: jax.Array) -> jax.Array:
    """The reflection that exchanges the last coordinate's axis and this one."""
    across = jnp.eye(len(axis))[-1] - axis
    return jnp.eye(len(axis)) - 2 * jnp.outer(across, across) / jnp.maximum(across @ across, 1e-30)
