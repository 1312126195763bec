"""Raw fields become a vector in the unit ball: on a device, for a warm start, and for simulated people.

A number is mapped to [-1, 1] (its middle, if it has one, to 0, and evenly on both sides), a flag to -1 or 1, a category
to one coordinate per value, and a constant 1 comes first. Of a value that is not known (None) all are 0. Each of these
has length at most 1, so the whole divided by sqrt(1 + fields) has length at most 1 (the domain clips all the same).
Fields are taken in the order of their names.

Where the actions have names the fields describe the person: action a has the person's vector in block a and zeros
elsewhere, so every action has its own coefficients. Where there are candidates each brings its own fields.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.protocol.contract import ByModel
from sottovoce.protocol.errors import BadInput, suggestion
from sottovoce.protocol.fields import Category, Field, Flag, Number

RawFields = Mapping[str, Any]
"""What an app knows, by the names of the fields; None where it does not."""


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
    >>> encode({"spent": Number(low=0.0, high=60.0, middle=20.0)}, {"spent": 40}).round(3).tolist()
    [0.707, 0.354]
    """
    if unknown := sorted(set(raw) - set(fields)):
        known = ", ".join(sorted(fields))
        raise BadInput(f"unknown field {unknown[0]!r}; this task has: {known}{suggestion(unknown[0], fields)}")
    if missing := sorted(set(fields) - set(raw)):
        raise BadInput(f"field {missing[0]!r} is missing; this task needs: {', '.join(sorted(fields))}")
    return vector(np, fields, {name: np.asarray(_value(name, fields[name], raw[name])) for name in fields})


def vector(xp: Any, fields: Mapping[str, Field], values: Mapping[str, Any]) -> Any:
    """The encoding itself, along a new last axis; a value is a number, true or false, or the place of a word.

    One that is not known is NaN, or for a word -1.
    """
    parts = [_coordinates(xp, fields[name], values[name]) for name in sorted(fields)]
    return xp.concat([xp.ones_like(parts[0][..., :1]), *parts], axis=-1) / math.sqrt(1 + len(fields))


def in_blocks(xp: Any, actions: int, person: Any) -> Any:
    """The person's vector in the block of each action: one row per action."""
    return xp.kron(xp.eye(actions), person)


def to_word(field: Field, value: Any) -> float | bool | str:
    """A value as `vector` takes it, in the words of an app."""
    match field:
        case Category(values=words):
            return words[int(value)]
        case Flag():
            return bool(value)
        case Number():
            return float(value)


def _value(name: str, field: Field, value: Any) -> float | bool | int:
    match field, value:
        case Category(), None:
            return -1
        case _, None:
            return math.nan
        case Flag(), bool():
            return value
        case Category(values=words), str():
            return words.index(value) if value in words else -1
        case Number(), int() | float() if not isinstance(value, bool) and abs(value) <= sys.float_info.max:
            return float(value)
    wanted = {Number: "a finite number", Category: "a word", Flag: "true or false"}[type(field)]
    raise BadInput(f"field {name!r} must be {wanted}, or None where it is not known; got {value!r}")


def _coordinates(xp: Any, field: Field, value: Any) -> Any:
    if isinstance(field, Category):
        return (value[..., None] == xp.arange(len(field.values))).astype(float)
    placed = xp.where(value, 1.0, -1.0) if isinstance(field, Flag) else _placed(xp, field, value)
    return xp.where(xp.isnan(value), 0.0, placed)[..., None]


def _placed(xp: Any, field: Number, value: Any) -> Any:
    """The place of a number in its range, from -1 to 1."""
    value = xp.clip(value, field.low, field.high)
    if field.middle is None:
        return 2 * (value - field.low) / (field.high - field.low) - 1
    beyond = value - field.middle
    return xp.where(beyond < 0, beyond / (field.middle - field.low), beyond / (field.high - field.middle))
