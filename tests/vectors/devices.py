"""Inputs for what a device does before there is noise: fields, choices by a model, and messages."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from sottovoce.protocol.codec import to_decimals
from vectors.common import INTERVAL, Case, vector

AGE = {"kind": "number", "low": "18.0", "high": "99.0"}
SPENT = {"kind": "number", "low": "0.1", "high": "1000.0", "middle": "30.0"}
WORDS = {"kind": "category", "values": ["crime", "comedy", "naïve", ""]}
FIELDS = {"age": AGE, "member": {"kind": "flag"}, "genre": WORDS}
UNICODE = {"😀": AGE, "ａ": {"kind": "flag"}, "z": AGE, "é": {"kind": "flag"}, "Z": AGE, "e\u0301": WORDS}


def fields(draw: np.random.Generator) -> Iterator[Case]:
    person = {"age": 35, "member": True, "genre": "comedy"}
    named = {"fields": FIELDS, "actions": ["a", "b", "c"], "candidates": 0}
    shown = {"fields": FIELDS, "actions": [], "candidates": 4}
    yield "a person, three named actions", {"offers": named, "raw": person}
    yield (
        "candidates",
        {"offers": shown, "raw": [person, person | {"age": 64.5}, person | {"genre": "crime", "member": False}]},
    )
    for what, change in {
        "below the range": {"age": -3}, "above the range": {"age": 1e308}, "minus zero": {"age": -0.0},
        "the smallest number": {"age": 5e-324}, "an unknown word": {"genre": "western"}, "an empty word": {"genre": ""},
        "a word beyond ASCII": {"genre": "naïve"}, "a third": {"age": 18 + 81 / 3},
    }.items():  # fmt: skip
        yield what, {"offers": named, "raw": person | change}
    for what, spent in {
        "at its middle": 30, "below its middle": 7.7, "above its middle": 999.9, "beyond its range": 1e308,
        "not known": None,
    }.items():  # fmt: skip
        yield f"a number {what}", {"offers": {**named, "fields": {"spent": SPENT}}, "raw": {"spent": spent}}
    yield "nothing is known", {"offers": named, "raw": dict.fromkeys(FIELDS)}
    strange = {"😀": 20, "ａ": True, "z": 30, "é": False, "Z": 40, "e\u0301": "crime"}
    yield "names in the order of their code points", {"offers": {**named, "fields": UNICODE}, "raw": strange}
    tiny = {"x": {"kind": "number", "low": "-5e-324", "high": "1.7976931348623157e+308"}}
    yield "a range as wide as numbers go", {"offers": {**named, "fields": tiny}, "raw": {"x": 1e-5}}
    odd = {"constructor": AGE, "__proto__": {"kind": "flag"}}
    yield (
        "names that objects of JavaScript have",
        {"offers": {**named, "fields": odd}, "raw": {"constructor": 50, "__proto__": True}},
    )
    for what, raw in {
        "a missing field": {"age": 35, "member": True}, "an unknown field": person | {"height": 180},
        "a number as text": person | {"age": "35"}, "a flag as a number": person | {"member": 1},
        "a number as a flag": person | {"age": True}, "a word as a number": person | {"genre": 3},
        "no number": person | {"age": {"number": "nan"}}, "infinity": person | {"age": {"number": "inf"}},
        "nothing": {}, "candidates": [person],
    }.items():  # fmt: skip
        yield f"refused: {what} instead of a person", {"offers": named, "raw": raw}
    beside = {"spent": SPENT | {"middle": SPENT["low"]}}
    yield "refused: a middle at an end", {"offers": {**named, "fields": beside}, "raw": {"spent": 7}}
    yield "refused: a person instead of candidates", {"offers": shown, "raw": person}
    yield "refused: no candidate", {"offers": shown, "raw": []}
    yield "refused: too many candidates", {"offers": shown, "raw": [person] * 5}
    yield (
        "refused: a missing field by the name of a method",
        {"offers": {**named, "fields": odd}, "raw": {"__proto__": True}},
    )


def model(draw: np.random.Generator, kind: str, d: int, **parts: Any) -> dict[str, Any]:
    root = draw.normal(size=(d, d)) / d
    own = {"theta": vector(draw, d), "explore": 0.1}
    if kind != "directed":
        own |= {"precision": (root @ root.T).round(6).tolist(), "width": 0.3}
    if kind != "linear":
        own |= {"anchor": vector(draw, d)}
    if kind == "directed":
        own |= {"clip": 0.5, "by_anchor": 0.2, "base": 0.0, "contrast": 0.0}
    return own | parts


def choices(draw: np.random.Generator) -> Iterator[Case]:
    def case(kind: str, made: dict[str, Any], context: Any, chance: float) -> dict[str, Any]:
        body = msgspec.json.encode({"kind": kind, **made}).decode()
        return {"kind": kind, "dimension": len(made["theta"]), "body": body, "context": context, "chance": chance}

    for kind in ("linear", "generalized", "directed"):
        for d, rows in ((1, 2), (3, 5), (10, 8)):
            context = [vector(draw, d) for _ in range(rows)]
            for chance in (0.75, 0.0625, 0.25) if d == 3 else (0.5,):
                yield f"{kind}: {rows} actions, chance {chance}", case(kind, model(draw, kind, d), context, chance)
        ties = model(draw, kind, 2, theta=[0.5, 0.25], explore=0.0)
        yield f"{kind}: of equal scores the first", case(kind, ties, [[0.25, 0.5], [0.5, 0.5], [0.5, 0.5]], 0.999)
        last = model(draw, kind, 2, explore=1.0)
        yield f"{kind}: always at random", case(kind, last, [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], 1 - 2**-53)
    huge = model(draw, "linear", 2, theta=[1e308, 1e308], explore=0.0)
    yield "a score beyond all numbers is the highest", case("linear", huge, [[1.0, 0.0], [1e3, 1e3], [0.5, 0.0]], 0.5)
    good = model(draw, "linear", 2)
    for what, parts in {
        "a theta of three numbers": {"theta": [1.0, 2.0, 3.0]},
        "a part too many": {"anchor": [1.0, 2.0]},
        "a number that is text": {"width": "0.1"},
        "a missing number": {"width": None},
        "rows of different lengths": {"precision": [[1.0, 0.0], [0.0]]},
    }.items():
        yield f"refused: {what}", case("linear", good | parts, [[1.0, 0.0]], 0.5) | {"dimension": 2}
    yield "refused: another kind", case("linear", good, [[1.0, 0.0]], 0.5) | {"kind": "generalized"}
    yield (
        "refused: beyond all numbers",
        case("linear", good, [[1.0, 0.0]], 0.5) | {"body": '{"kind": "linear", "theta": [1e999, 0]}'},
    )


def messages(draw: np.random.Generator) -> Iterator[Case]:
    def case(
        user: str, domain: Any, reward: Any, link: Any = None, made: Any = None, context: Any = None, action: Any = 0
    ) -> dict[str, Any]:
        given = {"user": user, "domain": to_decimals(domain), "link": link, "model": made}
        return given | {"context": context, "action": action, "reward": reward}

    links = [
        {"name": "logistic"},
        {"name": "probit", "radius": 2.0},
        {"name": "poisson", "maximum": 4.0},
        {"name": "identity"},
    ]
    for d in (1, 4, 9):
        rows = [vector(draw, d, 1.5) for _ in range(3)]
        yield (
            f"linear, {d} features",
            case("linear", {"kind": "moments", "dimension": d}, 0.75, None, model(draw, "linear", d), rows, 1),
        )
        for link in links:
            made = model(draw, "generalized", d)
            for domain in (
                {"kind": "gradient", "dimension": d, "bound": 0.5},
                {"kind": "moments", "dimension": d},
                {"kind": "relabelled", "dimension": d},
            )[:: 3 if d > 1 else 1]:
                yield (
                    f"generalized, {link['name']}, {domain['kind']}",
                    case("generalized", domain, 0.25, link, made, rows, 2),
                )
            direct = model(draw, "directed", d, contrast=float(d == 4), base=0.05 * (d > 4))
            yield (
                f"directed, {link['name']}, {d} features",
                case("directed", {"kind": "direction", "dimension": d}, 1.0, link, direct, rows, 0),
            )
    far = model(draw, "generalized", 2, anchor=[40.0, 40.0])
    yield (
        "a prediction far out",
        case("generalized", {"kind": "gradient", "dimension": 2}, 0.0, links[1], far, [[0.6, 0.8]]),
    )
    yield (
        "features of zero have no direction",
        case(
            "directed", {"kind": "direction", "dimension": 2}, 1.0, links[0], model(draw, "directed", 2), [[0.0, 0.0]]
        ),
    )
    yield (
        "a clip of zero",
        case(
            "directed",
            {"kind": "direction", "dimension": 2},
            1.0,
            links[0],
            model(draw, "directed", 2, clip=0.0),
            [[1e-200, 2e-200]],
        ),
    )
    towards = model(draw, "directed", 2, theta=[1.0, 0.0], clip=0.75, contrast=1.0)
    yield (
        "what lies along theta is made quieter, but not silent",
        case("directed", {"kind": "direction", "dimension": 2}, 1.0, links[3], towards, [[0.9, 0.01]]),
    )
    rare = model(np.random.default_rng(0), "directed", 2, anchor=[4.0, 0.0], clip=1.0, base=-3.0)
    yield (
        "a base below zero leaves predictions up to the best reward",
        case("directed", {"kind": "direction", "dimension": 2}, 1.0, links[0], rare, [[0.5, 0.0], [1.0, 0.0]], 1),
    )
    yield "a number", case("scalar", INTERVAL, 0.3, None, None, None, 2)
    points = [vector(draw, 3) for _ in range(4)]
    yield (
        "two slopes",
        case("slope", {"kind": "ball", "dimension": 2, "bound": 2.0}, [0.5, 0.75, 0.25, 0.0], None, None, None, points),
    )
    yield (
        "one slope, of a point with itself",
        case("slope", {"kind": "interval", "low": -1.0, "high": 1.0}, [0.5, 0.25], None, None, None, [points[0]] * 2),
    )
