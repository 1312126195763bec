"""Raw fields to features, on the device: named values with bounds become a vector in the unit ball.

A number is mapped to [-1, 1], a flag to -1 or 1, a category to one coordinate per value, and a constant 1 comes first.
Each of these has length at most 1, so the whole divided by sqrt(1 + fields) has length at most 1: by construction, not
by hope (the domain clips all the same). Fields are taken in the order of their names.

Where the actions have names the fields describe the person: action a has the person's vector in block a and zeros
elsewhere, so every action has its own coefficients. Where there are candidates each brings its own fields.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.protocol.contract import Contract
from sottovoce.protocol.errors import BadInput
from sottovoce.protocol.fields import Category, Field, Flag, Number

Raw = Mapping[str, Any]


def features(contract: Contract, raw: Raw | Sequence[Raw]) -> NDArray[np.floating]:
    """One row of features per action, from the person's fields or from each candidate's."""
    if contract.actions:
        if not isinstance(raw, Mapping):
            raise BadInput("this task's fields describe the person: give one mapping of fields")
        return np.kron(np.eye(len(contract.actions)), encode(contract.fields, raw))
    if isinstance(raw, Mapping) or not raw:
        raise BadInput("this task's fields describe candidates: give a list with one mapping per candidate")
    if len(raw) > contract.candidates:
        raise BadInput(f"this task allows {contract.candidates} candidates at once, got {len(raw)}")
    return np.stack([encode(contract.fields, one) for one in raw])


def encode(fields: Mapping[str, Field], raw: Raw) -> NDArray[np.floating]:
    """One feature vector of length at most 1.

    >>> encode({"age": Number(low=20.0, high=60.0), "member": Flag()}, {"age": 50, "member": False}).round(3).tolist()
    [0.577, 0.289, -0.577]
    """
    if unknown := sorted(set(raw) - set(fields)):
        raise BadInput(f"unknown field {unknown[0]!r}; this task has: {', '.join(sorted(fields))}")
    if missing := sorted(set(fields) - set(raw)):
        raise BadInput(f"field {missing[0]!r} is missing; this task needs: {', '.join(sorted(fields))}")
    parts = [[1.0], *(_encoded(name, fields[name], raw[name]) for name in sorted(fields))]
    return np.concatenate(parts) / math.sqrt(1 + len(fields))


def _encoded(name: str, field: Field, value: Any) -> list[float]:
    match field:
        case Number(low=low, high=high):
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise BadInput(f"field {name!r} must be a finite number, got {value!r}")
            return [2 * (min(max(float(value), low), high) - low) / (high - low) - 1]
        case Category(values=values):
            if not isinstance(value, str):
                raise BadInput(f"field {name!r} must be a word, got {value!r}")
            return [float(value == known) for known in values]
        case Flag():
            if not isinstance(value, bool):
                raise BadInput(f"field {name!r} must be true or false, got {value!r}")
            return [1.0 if value else -1.0]
