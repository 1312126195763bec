"""Raw fields become a vector in the unit ball: on a device, for a warm start, and for simulated people.

A number is mapped to [-1, 1], a flag to -1 or 1, a category to one coordinate per value, and a constant 1 comes first.
Each of these has length at most 1, so the whole divided by sqrt(1 + fields) has length at most 1 (the domain clips all
the same). Fields are taken in the order of their names.

Where the actions have names the fields describe the person: action a has the person's vector in block a and zeros
elsewhere, so every action has its own coefficients. Where there are candidates each brings its own fields.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.protocol.contract import ByModel
from sottovoce.protocol.errors import BadInput, suggestion
from sottovoce.protocol.fields import Category, Field, Flag, Number

RawFields = Mapping[str, Any]
"""What an app knows, by the names of the fields."""

FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def features(offers: ByModel, raw: RawFields | Sequence[RawFields]) -> NDArray[np.floating]:
    """One row of features per action, from the person's fields or from each candidate's."""
    if offers.actions:
        if not isinstance(raw, Mapping):
            raise BadInput("this task's fields describe the person: give one mapping of fields")
        return in_blocks(np, len(offers.actions), encode(offers.fields, raw))
    if isinstance(raw, Mapping) or not raw:
        raise BadInput("this task's fields describe candidates: give a list with one mapping per candidate")
    if len(raw) > offers.candidates:
        raise BadInput(f"this task allows {offers.candidates} candidates at once, got {len(raw)}")
    return np.stack([encode(offers.fields, one) for one in raw])


def encode(fields: Mapping[str, Field], raw: RawFields) -> NDArray[np.floating]:
    """One feature vector of length at most 1.

    >>> encode({"age": Number(low=20.0, high=60.0), "member": Flag()}, {"age": 50, "member": False}).round(3).tolist()
    [0.577, 0.289, -0.577]
    """
    if unknown := sorted(set(raw) - set(fields)):
        known = ", ".join(sorted(fields))
        raise BadInput(f"unknown field {unknown[0]!r}; this task has: {known}{suggestion(unknown[0], fields)}")
    if missing := sorted(set(fields) - set(raw)):
        raise BadInput(f"field {missing[0]!r} is missing; this task needs: {', '.join(sorted(fields))}")
    return vector(np, fields, {name: np.asarray(_value(name, fields[name], raw[name])) for name in fields})


def vector(xp: Any, fields: Mapping[str, Field], values: Mapping[str, Any]) -> Any:
    """The encoding itself, along a new last axis; a value is a number, true or false, or the place of a word."""
    parts = [_coordinates(xp, fields[name], values[name]) for name in sorted(fields)]
    return xp.concat([xp.ones_like(parts[0][..., :1]), *parts], axis=-1) / math.sqrt(1 + len(fields))


def in_blocks(xp: Any, actions: int, person: Any) -> Any:
    """The person's vector in the block of each action: one row per action."""
    return xp.kron(xp.eye(actions), person)


def from_text(name: str, field: Field, text: str) -> float | bool | str:
    """What a cell of a table says of this field."""
    match field:
        case Category():
            return text
        case Number():
            return number_from(name, text)
        case Flag() if text.lower() in FLAGS:
            return FLAGS[text.lower()]
    raise BadInput(f"{name!r} must be true or false, got {text!r}")


def to_word(field: Field, value: Any) -> float | bool | str:
    """A value as `vector` takes it, in the words of an app."""
    match field:
        case Category(values=words):
            return words[int(value)]
        case Flag():
            return bool(value)
        case Number():
            return float(value)


def number_from(name: str, text: str) -> float:
    """A finite number in a cell of a table."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadInput(f"{name!r} must be a finite number, got {text!r}")
    return number


def _value(name: str, field: Field, value: Any) -> float | bool | int:
    match field, value:
        case Flag(), bool():
            return value
        case Category(values=words), str():
            return words.index(value) if value in words else -1
        case Number(), int() | float() if not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    wanted = {Number: "a finite number", Category: "a word", Flag: "true or false"}[type(field)]
    raise BadInput(f"field {name!r} must be {wanted}, got {value!r}")


def _coordinates(xp: Any, field: Field, value: Any) -> Any:
    match field:
        case Number(low=low, high=high):
            return (2 * (xp.clip(value, low, high) - low) / (high - low) - 1)[..., None]
        case Category(values=words):
            return (value[..., None] == xp.arange(len(words))).astype(float)
        case Flag():
            return xp.where(value, 1.0, -1.0)[..., None]
