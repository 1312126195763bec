"""Which metrics and labels an expression of Prometheus names. Not a parser: what our own rules and panels use."""

import re
from typing import NamedTuple

WORDS = {"and", "or", "unless", "by", "without", "on", "ignoring", "group_left", "group_right", "offset", "bool"}
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"


class Named(NamedTuple):
    metrics: dict[str, set[str]]
    """Each with the labels that stand in its braces."""
    grouped: set[str]
    """Labels of `by (...)` and `on (...)`."""
    values: list[tuple[str, str, str]]
    """Labels, how they are compared, and with what."""


def named_by(expression: str) -> Named:
    """What an expression names.

    >>> named_by('max by (task) (rate(a_total{verdict!="x"}[5m] offset 1h)) > 3 unless b')
    Named(metrics={'a_total': {'verdict'}, 'b': set()}, grouped={'task'}, values=[('verdict', '!=', 'x')])
    """
    grouping = r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)"
    grouped = {label for found in re.findall(grouping, expression) for label in re.findall(NAME, found)}
    rest = re.sub(r"\[[^]]*\]|\boffset\s+\w+", " ", re.sub(grouping, " ", expression))
    metrics: dict[str, set[str]] = {}
    values: list[tuple[str, str, str]] = []
    for found in re.finditer(rf"(?<![\w$])({NAME})\s*(\{{[^}}]*\}}|\()?", rest):
        name, after = found[1], found[2] or ""
        if name in WORDS or after == "(" or _within_braces(rest, found.start()):
            continue
        compared = re.findall(rf'({NAME})\s*(=~|!~|!=|=)\s*"([^"]*)"', after)
        metrics.setdefault(name, set()).update(label for label, _, _ in compared)
        values += compared
    return Named(metrics, grouped, values)


def _within_braces(text: str, place: int) -> bool:
    return text.count("{", 0, place) > text.count("}", 0, place)
