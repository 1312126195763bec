"""Python's half of the golden vectors: inputs from a fixed seed, and what Python answers."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from vectors.answers import answer
from vectors.common import Case
from vectors.devices import choices, fields, messages
from vectors.live import contracts, ledger, reports, sums, wire
from vectors.mechanisms import mechanisms

TOPICS: dict[str, Callable[[np.random.Generator], Iterator[Case]]] = {
    topic.__name__: topic for topic in (mechanisms, fields, choices, messages, contracts, reports, sums, ledger, wire)
}


def vectors(topic: str) -> list[dict[str, Any]]:
    """Written randomness is cut to what was used."""
    draw, found = np.random.default_rng(13), []
    for what, given in TOPICS[topic](draw):
        if "random" in given:
            given["random"] += draw.bytes(20_000).hex()
        gives = answer(topic, given)
        if "random" in given:
            given["random"] = given["random"][: 2 * gives.get("used", 0)]
        found.append({"what": what, "given": given, "gives": gives})
    return found


def text_of(topic: str) -> str:
    """The file, a vector a line."""
    lines = (json.dumps(one, ensure_ascii=False, allow_nan=False) for one in vectors(topic))
    return "[\n" + ",\n".join(lines) + "\n]\n"
