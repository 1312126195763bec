"""Convex regions: the sets whose points are the actions.

A learner moves in free coordinates z, where the origin lies well inside: ball(inner) is in the region and the region is
in ball(outer). `place` turns z into the point that is played; it is the identity but for the simplex, whose points obey
one equation. Every region has a projection onto its shrunken copies and a self-concordant barrier with parameter nu.
"""

import math
from collections.abc import Mapping
from typing import Any

from sottovoce.learners.convex.regions.base import BallRegion, BoxRegion, Region, norm, on_sphere
from sottovoce.learners.convex.regions.polytope import polytope
from sottovoce.learners.convex.regions.simplex import SimplexRegion, helmert
from sottovoce.protocol.errors import ConfigurationError, UnknownName

__all__ = ["Region", "helmert", "norm", "on_sphere", "region_of"]


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
        return (BallRegion if kind == "ball" else BoxRegion)(size=dimension, radius=radius)
    if kind == "simplex" and not numbers:
        if dimension < 2:
            raise ConfigurationError(f"a simplex needs a dimension of at least 2, got {dimension}")
        return SimplexRegion(size=dimension - 1)
    if kind == "polytope" and set(numbers) == {"rows", "bounds"}:
        return polytope(numbers["rows"], numbers["bounds"], dimension)
    if kind in ("ball", "box", "simplex", "polytope"):
        wanted = {"ball": "radius", "box": "radius", "polytope": "rows and bounds"}.get(kind, "no numbers")
        raise ConfigurationError(f"a region of kind {kind} takes {wanted}, got {sorted(numbers)}")
    raise UnknownName("region", str(kind), ["ball", "box", "simplex", "polytope"])
