"""Inputs for mechanisms: every domain, dimensions 1 to 63, and what is refused."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from vectors.common import INTERVAL, Case, gate, vector


def mechanisms(draw: np.random.Generator) -> Iterator[Case]:
    def case(what: str, described: dict[str, Any], *raw: Any, random: bytes = b"") -> Case:
        return what, {**described, "raw": list(raw), "coin": draw.bytes(12).hex(), "random": random.hex()}

    epsilons = (0.3, 1.0, 2.0, 4.0, 6.0, 9.0)
    for dimension in range(1, 65, 2):
        epsilon, long = epsilons[dimension // 2 % 6], 0.8 + dimension % 3
        domain, raw = _domain(draw, dimension, long)
        yield case(f"sphere: {domain['kind']} in {dimension} dimensions", gate("sphere", domain, epsilon), *raw)
    for low, high, value, epsilon in [
        (0.0, 1.0, 0.3, 1.0), (0.0, 1.0, -0.0, 2.0), (0.0, 1.0, 1.0, 2.0), (1.0, 5.0, 4.2, 4.0), (1.0, 5.0, 7.0, 4.0),
        (-1e-300, 1e-300, 1e-301, 3.0), (-1e300, 1e300, 1e299, 3.0), (0.0, 1.0, 5e-324, 8.0), (-1.0, 1.0, 0.1, 12.0),
        (0.0, 3.0, 1.0, 5.0),
    ]:  # fmt: skip
        domain = {"kind": "interval", "low": low, "high": high}
        yield case(f"levels: {value} between {low} and {high}", gate("levels", domain, epsilon), value)
    many = gate("levels", INTERVAL, 8.0, levels=65536)
    yield case("levels: 65536 of them take two bytes", many, 0.7654321)
    yield case(
        "levels: draws that are too large are made again", gate("levels", INTERVAL, 1.0), 0.5, random=b"\xff" * 24
    )
    yield case(
        "sphere: many candidates on a circle have equal scores",
        gate("sphere", {"kind": "ball", "dimension": 1}, 12.0),
        [0.0],
    )
    for name, delta in (("laplace", 0.0), ("gaussian", 1e-6)):
        for dimension in (1, 2, 3, 8) if name == "laplace" else (1, 2, 5):
            domain, raw = _domain(draw, dimension, 0.9)
            yield case(f"{name}: {domain['kind']} in {dimension} dimensions", gate(name, domain, 2.0, delta), *raw)
        relabelled = {"kind": "relabelled", "dimension": 2, "label_bound": 0.5, "residual_bound": 1.5, "weight": 0.75}
        yield case(f"{name}: three messages", gate(name, relabelled, 3.0, delta), vector(draw, 2), 0.7, -0.4)
    yield from _refused(case)


def _domain(draw: np.random.Generator, dimension: int, scale: float) -> tuple[dict[str, Any], list[Any]]:
    """A domain with so many dimensions, and raw pieces for it, some of them too long."""
    sized = {"dimension": dimension}
    kinds = ("ball", "gradient", "direction", "moments" if dimension <= 10 else "gradient")
    match kinds[dimension // 2 % 4]:
        case "ball":
            return {"kind": "ball", **sized, "bound": 1.5}, [vector(draw, dimension, scale)]
        case "gradient":
            return {"kind": "gradient", **sized, "bound": 0.75}, [vector(draw, dimension, scale), round(scale - 1, 3)]
        case "direction":
            return {"kind": "direction", **sized, "share": 0.2}, [
                vector(draw, dimension, 1e-3),
                round(scale - 1, 3),
                0.5,
            ]
        case _:
            moments = {"kind": "moments", **sized, "reward_bound": 2.0, "weight": 1.25}
            return moments, [vector(draw, dimension, scale), round(3 - 2 * scale, 3)]


def _refused(case: Any) -> Iterator[Case]:
    ball = {"kind": "ball", "dimension": 3}
    levels, sphere = gate("levels", INTERVAL, 1.0), gate("sphere", ball, 4.0)
    for what, numbers in {
        "one more than epsilon allows": {"keep": levels["numbers"]["keep"] + 1},
        "a true answer less likely than another": {"keep": 5, "flip": 6},
        "no weight for other answers": {"flip": 0},
        "one level": {"levels": 1},
        "too many levels": {"levels": 65537},
        "a level that is not whole": {"levels": "2.0"},
        "a number that is not declared": {"more": 1},
        "weights beyond 2^53": {"levels": 65536, "keep": 2**40, "flip": 2**40},
    }.items():
        yield case(f"refused: {what}", {**levels, "numbers": levels["numbers"] | numbers}, 0.5)
    for what, numbers in {
        "no cap": {"cap": 0},
        "a cap of more than half": {"cap": sphere["numbers"]["candidates"] // 2 + 1},
        "an odd number of candidates": {"candidates": 31},
        "more candidates than two bytes name": {"candidates": 131072},
    }.items():
        yield case(f"refused: {what}", {**sphere, "numbers": sphere["numbers"] | numbers}, [0.1, 0.2, 0.3])
    large = {**sphere, "domain": {"kind": "ball", "dimension": 600_000}}
    yield case("refused: a codebook that takes too long", large, [0.1, 0.2, 0.3])
    yield case("refused: epsilon above 12", {**levels, "epsilon": 12.000001}, 0.5)
    yield case("refused: no epsilon", {**levels, "epsilon": 0.0}, 0.5)
    yield case("refused: levels of a vector", {**levels, "domain": ball}, [0.5, 0.5, 0.5])
    for domain in (
        {"kind": "cube"},
        {"kind": "ball"},
        {"kind": "ball", "dimension": 3, "bound": "-1.0"},
        {"kind": "ball", "dimension": "3.0"},
        {"kind": "interval", "low": "1.0", "high": "1.0"},
    ):
        yield case(f"refused: {domain}", {**sphere, "domain": domain}, [0.1, 0.2, 0.3])
    for raw in ([[0.1, 0.2]], [0.5], [[0.1, {"number": "nan"}, 0.3]], [[0.1, {"number": "inf"}, 0.3]]):
        yield case(f"refused: a vector of three numbers that is {raw[0]}", sphere, *raw)
    yield case("refused: too little Laplace noise", gate("laplace", INTERVAL, 1.0, scales=(1.9,)), 0.5)
    yield case("refused: too little Gaussian noise", gate("gaussian", INTERVAL, 1.0, 1e-6, scales=(8.0,)), 0.5)
    yield case("refused: Gaussian noise without a delta", {**gate("gaussian", INTERVAL, 1.0, 1e-6), "delta": 0.0}, 0.5)
    yield case("refused: a scale too many", gate("laplace", INTERVAL, 1.0, scales=(9.0, 9.0)), 0.5)
