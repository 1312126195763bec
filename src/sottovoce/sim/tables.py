"""Tables of people, read from a CSV file or from scikit-learn; rows encoded as on a device."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.table_file import rows_of
from sottovoce.protocol.errors import ConfigurationError, UnknownName, suggestion
from sottovoce.protocol.fields import Category, Field
from sottovoce.users.cells import check_complete, values_of
from sottovoce.users.fields import vector

EXAMPLES = ("breast_cancer", "digits", "iris", "wine")
"""Tables that come with scikit-learn; their answers stand in the column `target`."""
MOST_ANSWERS = 100

Columns = dict[str, list[str]]
"""The cells of a table by their headings, as text."""


class Answers(NamedTuple):
    """A column that names one of a few actions."""

    names: tuple[str, ...]
    places: NDArray[np.int64]
    """The place of each row's action among the names."""


def columns_of(path: str) -> Columns:
    """The columns of a CSV file, or of a table that comes with scikit-learn."""
    if not Path(path).exists():
        if path in EXAMPLES:
            return _example(path)
        known = f"of scikit-learn there are {', '.join(EXAMPLES)}{suggestion(path, EXAMPLES)}"
        raise ConfigurationError(f"there is no file {path}; {known}")
    columns: Columns = {}
    for row in rows_of(Path(path)):
        for name, cell in row.items():
            columns.setdefault(name, []).append(cell)
    if not columns:
        raise ConfigurationError(f"{path} has no rows below its headings")
    return columns


def answers_of(columns: Columns, name: str, known: tuple[str, ...] = ()) -> Answers:
    """The column of this name as actions: those that are `known`, or all that occur."""
    check_complete(name, columns[name])
    found = sorted(set(columns[name]))
    if known and (unknown := [word for word in found if word not in known]):
        raise UnknownName(f"action in column {name!r}", unknown[0], known)
    if len(found) < 2:
        raise ConfigurationError(f"column {name!r} says {found[0]!r} in every row; there must be two actions or more")
    if len(found) > MOST_ANSWERS:
        raise ConfigurationError(
            f"column {name!r} has {len(found):,} different values; at most {MOST_ANSWERS} can be actions: group them"
        )
    names = known or tuple(found)
    places = {word: place for place, word in enumerate(names)}
    return Answers(names, np.array([places[cell] for cell in columns[name]]))


def encoded(fields: Mapping[str, Field], columns: Columns) -> NDArray[np.float64]:
    """A row of features for each row of the table.

    >>> from sottovoce.protocol.fields import Flag, Number
    >>> encoded({"age": Number(low=20.0, high=60.0), "member": Flag()}, {"age": ["50"], "member": ["no"]}).round(3)
    array([[ 0.577,  0.289, -0.577]])
    """
    for name in fields:
        if name not in columns:
            raise UnknownName("column", name, columns)
    return vector(np, fields, {name: _coordinates(name, field, columns[name]) for name, field in fields.items()})


def _coordinates(name: str, field: Field, cells: list[str]) -> NDArray[Any]:
    """One column as `vector` takes it: numbers (1 and 0 for a flag), or a word's place; NaN or -1 if unknown."""
    said = values_of(name, field, cells)
    if isinstance(field, Category):
        places: dict[Any, int] = {word: place for place, word in enumerate(field.values)}
        return np.array([places.get(word, -1) for word in said])
    return np.array([math.nan if value is None else value for value in said], dtype=float)


def _example(name: str) -> Columns:
    try:
        from sklearn import datasets  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        raise ConfigurationError(f"{name} comes with scikit-learn: pip install 'sottovoce[data]'") from None
    data = getattr(datasets, f"load_{name}")()
    columns = {str(heading): cells for heading, cells in zip(data.feature_names, data.data.T.tolist(), strict=True)}
    columns["target"] = [data.target_names[place] for place in data.target]
    return {heading: [str(cell) for cell in cells] for heading, cells in columns.items()}
