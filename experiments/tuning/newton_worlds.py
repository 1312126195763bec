"""Worlds in which the constants of a one-point learner are chosen; no published figure is made in them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Place(NamedTuple):
    world: str
    dimension: int
    depth: float
    epsilon: float
    region: str = "ball"
    options: Mapping[str, Any] = MappingProxyType({})


PLACES = [
    Place("quadratic", 1, 0.6, 1.0),
    Place("quadratic", 3, 0.7, 4.0),
    Place("quadratic", 4, 0.4, 1.0, options={"kink": 0.5}),
    Place("absolute", 2, 0.7, 1.0),
    Place("absolute", 4, 0.4, 4.0),
    Place("valley", 2, 0.6, 1.0, options={"flat": 0.1}),
    Place("valley", 5, 0.7, 4.0, options={"flat": 0.02}),
    Place("cliff", 2, 0.4, 4.0, options={"shallow": 0.2}),
    Place("cliff", 4, 0.7, 1.0, options={"shallow": 0.05}),
    Place("absolute", 3, 0.6, 2.0, region="box"),
]
