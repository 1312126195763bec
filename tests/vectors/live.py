"""Inputs for contracts, whole reports, ledgers and the wire."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import load_task_file
from sottovoce.protocol.codec import to_text
from sottovoce.protocol.offers import version_of
from vectors.common import INTERVAL, OWNER, Case, gate, vector
from vectors.devices import model

TASKS = Path(__file__).parents[2] / "experiments" / "live"


def documents() -> dict[str, dict[str, Any]]:
    """The contracts of the live experiments, as data."""
    found = {}
    for name in ("headline", "recommend"):
        found[name] = json.loads(contract_of(load_task_file(TASKS / f"{name}.toml")))
    return found


def given(document: dict[str, Any], task: str, epsilon: float | None = None, **limits: float) -> dict[str, Any]:
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return {"contract": body, "task": task, "limits": OWNER | limits, "epsilon": epsilon}


def contracts(draw: np.random.Generator) -> Iterator[Case]:
    for task, document in documents().items():
        yield f"{task} as it is", given(document, task)
        yield f"{task}, through a quieter gate", given(document, task, epsilon=1.0)
        yield f"{task}, for an owner who allows less", given(document, task, epsilon=1.5)
        yield f"refused: {task}, quieter than all gates", given(document, task, epsilon=0.01)
        yield f"refused: {task} under another name", given(document, "another")
        gates = document["gates"]
        name = "keep" if task == "headline" else "inside"
        broken = [gates[0] | {"numbers": gates[0]["numbers"] | {name: gates[0]["numbers"][name] + 1}}, *gates[1:]]
        for what, change in {
            "a broken promise": {"gates": broken},
            "no gate": {"gates": []},
            "another format": {"format": 2},
            "an unknown field": {"colour": "red"},
            "an unknown extension": {"extensions": {"colour": "red"}},
            "an extension of another value": {"extensions": {"admission": "free"}},
            "an endless wait": {"delay": 40_000_000},
            "a reward without range": {"reward": document["reward"] | {"high": "0.0"}},
            "a default outside the range": {"reward": document["reward"] | {"default": "1.5"}},
            "a day that there is not": {"expires": "2099-02-30"},
            "a window of no days": {"limit": document["limit"] | {"window_days": 0}},
            "a window of less than a report": {"limit": document["limit"] | {"window": "0.5"}},
            "no title": {"title": None},
            "an unknown mechanism": {"mechanism": "fair-coin"},
            "a field that is not declared": {"offers": document["offers"] | {"colour": "red"}},
            "another domain": {
                "domain": {"kind": "ball", "dimension": 77} if task == "recommend" else {"kind": "cube"}
            },
        }.items():
            yield f"refused: {task} with {what}", given(document | change, task)
        yield (
            f"{task} with an extension that devices know",
            given(document | {"extensions": {"admission": "signed"}}, task),
        )
    yield "refused: no contract", {"contract": "[]", "task": "headline", "limits": OWNER, "epsilon": None}
    yield "refused: no JSON", {"contract": "{", "task": "headline", "limits": OWNER, "epsilon": None}


def reports(draw: np.random.Generator) -> Iterator[Case]:
    def case(what: str, agreed: dict[str, Any], raw: Any, reward: Any, body: str = "") -> Case:
        permit, nonce = to_text(draw.bytes(21)), to_text(draw.bytes(12))
        version = version_of(body.encode()) if body else ""
        pending = {"permit": permit, "nonce": nonce, "version": version, "raw": raw}
        return what, {**agreed, "models": [body] if body else [], "pending": pending, "reward": reward, "random": ""}

    found = documents()
    for what, reward in {
        "read": 1.0,
        "not read": 0,
        "true": True,
        "clipped": 7.5,
        "bad": "five",
        "a list": [1.0],
        "no number": {"number": "nan"},
    }.items():
        yield case(f"headline, {what}", given(found["headline"], "headline"), 2, reward)
        yield case(f"headline, {what}, quieter", given(found["headline"], "headline", 1.0), 2, reward)
    d = found["recommend"]["domain"]["dimension"]
    body = msgspec.json.encode({"kind": "directed", **model(draw, "directed", d)}).decode()
    for what, reward in {"watched": 1.0, "half": 0.5, "clipped": -3.0, "bad": None}.items():
        yield case(f"recommend, {what}", given(found["recommend"], "recommend"), [vector(draw, d)], reward, body)
        yield case(
            f"recommend, {what}, quieter", given(found["recommend"], "recommend", 2.0), [vector(draw, d)], reward, body
        )
    contrast = msgspec.json.encode({"kind": "directed", **model(draw, "directed", d, contrast=1.0)}).decode()
    rows = [vector(draw, d) for _ in range(4)]
    yield case("recommend, in contrast with three others", given(found["recommend"], "recommend"), rows, 1.0, contrast)
    nothing = [[0.0] * d]
    yield case("recommend, bad fields", given(found["recommend"], "recommend"), nothing, 1.0, body)
    lost = case(
        "recommend, by a model that was thrown away",
        given(found["recommend"], "recommend"),
        [vector(draw, d)],
        1.0,
        body,
    )
    yield lost[0], lost[1] | {"models": []}


def sums(draw: np.random.Generator) -> Iterator[Case]:
    yield "nothing", {"pure": []}
    yield "ten tenths", {"pure": [[0.1, 10]]}
    yield "tenths in parts, in any order", {"pure": [[0.3, 3], [0.1, 7], [0.3, 4], [0.2, 1]]}
    yield "small beside large", {"pure": [[1e16, 1], [1.0, 1], [1e-15, 1]]}
    yield "the smallest numbers", {"pure": [[5e-324, 3], [1.0, 2**40]]}
    for n in (3, 10, 40):
        yield (
            f"{n} epsilons",
            {"pure": [[round(float(draw.uniform(0.01, 12)), 5), int(draw.integers(1, 99))] for _ in range(n)]},
        )


def ledger(draw: np.random.Generator) -> Iterator[Case]:
    hour, day = 1_800_000_000, 86_400
    mechanism = gate("levels", INTERVAL, 1.0)
    limit = {"lifetime": 10.0, "lifetime_delta": 0.0, "window": 3.0, "window_days": 2}

    def pure(*epsilons: float) -> dict[str, Any]:
        return {"pure": [[epsilon, 1] for epsilon in epsilons], "squared": 0.0, "coordinates": 0}

    def case(
        entries: list[Any], now: float = hour, limit: Any = limit, mechanism: Any = mechanism, **limits: float
    ) -> dict[str, Any]:
        return {"mechanism": mechanism, "limits": OWNER | limits, "limit": limit, "entries": entries, "now": now}

    yield "nothing spent", case([])
    yield "the window is full", case([[pure(1.0), hour, True]] * 3, hour + 60.5)
    yield "the window is full to its last hour", case([[pure(1.0), hour, True]] * 3, hour + 2 * day + 3599)
    yield "an entry leaves the window with its hour", case([[pure(1.0), hour, True]] * 3, hour + 2 * day + 3600)
    yield "a clock that runs backwards frees nothing", case([[pure(1.0), hour, True]] * 3, hour - 9 * day)
    yield (
        "the owner's limit counts all tasks",
        case([[pure(1.0, 2.0), hour, False]] * 13, hour, limit | {"window": 10.0}),
    )
    yield (
        "sums that reach the limit but for rounding",
        case([[pure(0.1), hour, True]] * 20, hour, limit | {"window": 3.0000000000000004}),
    )
    tenth = gate("levels", INTERVAL, 0.1)
    yield (
        "the last report before the limit, but for rounding",
        case([[pure(0.1), hour, True]] * 2, hour, limit | {"window": 0.3}, tenth),
    )
    yield "the lifetime is full", case([[pure(4.0), hour - 9 * day, True]] * 2, hour, limit | {"lifetime": 8.5})
    late = limit | {"lifetime_delta": 1e-6, "lifetime": 6.0, "window": 6.0}
    yield (
        "a delta allows more than the sum",
        case([[pure(0.2), hour, True]] * 60, hour, late, gate("levels", INTERVAL, 0.2), lifetime_delta=1e-6),
    )
    yield "a delta that is used up", case([[pure(1.0), hour, True]] * 12, hour, late, lifetime_delta=1e-6)
    noise = {"pure": [], "squared": 0.09, "coordinates": 1}
    gaussian = gate("gaussian", INTERVAL, 1.0, 1e-6)
    yield "Gaussian noise", case([[noise, hour, True]] * 4, hour, late, gaussian, delta=1e-5, lifetime_delta=1e-6)
    yield "Gaussian noise meets a limit without delta", case([[noise, hour, True]], hour, limit, gaussian, delta=1e-5)


def wire(draw: np.random.Generator) -> Iterator[Case]:
    for length in (0, 1, 2, 55, 56, 63, 64, 119, 300):
        yield f"{length} bytes", {"bytes": draw.bytes(length).hex()}
    for text in ("cmVwb3J0", "-_-_", "AB", "AQ==", "A", "++//", "AQ\n", "é"):
        yield f"text {text!r}", {"text": text}
    yield "two commitments", {"nonces": [draw.bytes(12).hex(), bytes(12).hex()]}
    yield "a coin", {"permit": to_text(draw.bytes(21)), "nonce": to_text(draw.bytes(12))}
    for bound in (1, 2, 3, 255, 256, 257, 2**40, 2**53 - 1, 2**53, 2**97 + 1):
        yield f"an integer below {bound}", {"bound": str(bound), "random": (b"\xff" * 13 + draw.bytes(200)).hex()}
    for text in (
        "0.5",
        "1e-05",
        "5e-324",
        "1.7976931348623157e+308",
        "-0.0",
        "0.1",
        "12345678901234567890",
        "x",
        "1.0.0",
    ):
        yield f"the number {text}", {"decimal": text}
