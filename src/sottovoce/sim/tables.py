"""Tables of people, read from a CSV file or from scikit-learn: fields guessed, rows encoded as on a device.

A column of numbers becomes a number field: its range is where nine of ten values lie, its middle their median. Yes and
no (also 1 and 0) become a flag, words a category. Numbers stay numbers even where they take few values: that costs one
coordinate, a category one for each value. A column that never changes is left out, and so is one with too many words.
An empty cell is a value that is not known.
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.table_file import rows_of
from sottovoce.protocol.errors import BadInput, ConfigurationError, UnknownName, suggestion
from sottovoce.protocol.fields import Category, Field, Flag, Number
from sottovoce.users.fields import FLAGS, from_text, number_from, vector

EXAMPLES = ("breast_cancer", "digits", "iris", "wine")
"""Tables that come with scikit-learn; their answers stand in the column `target`."""
MISSING = {"", "?", "na", "n/a", "nan", "null"}
"""What a cell says that says nothing."""
MOST_WORDS = 30
"""A category with more values is a name or a number of a person, and would cost a coordinate for each."""
MOST_ANSWERS = 100
OUTSIDE = 0.05
"""The share of a column's numbers below its range, and above it: see experiments/tuning/ranges.py."""

Columns = dict[str, list[str]]
"""The cells of a table by their headings, as text."""


class Answers(NamedTuple):
    """A column that names one of a few actions."""

    names: tuple[str, ...]
    places: NDArray[np.int64]
    """The place of each row's action among the names."""


def columns_of(path: str) -> Columns:
    """The columns of a CSV file, or of a table that comes with scikit-learn; one without a heading is left out."""
    if not Path(path).exists():
        if path in EXAMPLES:
            return _example(path)
        known = f"of scikit-learn there are {', '.join(EXAMPLES)}{suggestion(path, EXAMPLES)}"
        raise ConfigurationError(f"there is no file {path}; {known}")
    columns: Columns = {}
    for row in rows_of(Path(path)):
        for name, cell in row.items():
            columns.setdefault(name, []).append(cell)
    columns.pop("", None)
    if not columns:
        raise ConfigurationError(f"{path} has no rows below its headings")
    if "(more)" in columns:
        raise ConfigurationError(f"{path}: a row has more cells than there are headings")
    return columns


def says_nothing(cell: str) -> bool:
    """Is the value of this cell not known?"""
    return cell.strip().lower() in MISSING


def check_complete(columns: Columns, name: str) -> None:
    """Refuse a column that decides what is learned and has no value in some rows."""
    if missing := sum(map(says_nothing, columns[name])):
        raise ConfigurationError(
            f"column {name!r} has no value in {missing:,} of {len(columns[name]):,} rows: fill them in, or remove "
            f"these rows"
        )


def answers_of(columns: Columns, name: str, known: tuple[str, ...] = ()) -> Answers:
    """The column of this name as actions: those that are `known`, or all that occur."""
    check_complete(columns, name)
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


def guessed_fields(columns: Columns, without: Iterable[str] = ()) -> dict[str, Field]:
    """A field for every column that changes and does not name each person, by what its cells say.

    >>> guessed_fields({"age": ["20", "31.5"], "member": ["yes", "no"], "shop": ["b", "a"], "year": ["7", "7"]})
    {'age': Number(low=20.0, high=31.5, middle=None), 'member': Flag(), 'shop': Category(values=('a', 'b'))}
    """
    chosen = {name: columns[name] for name in columns if name not in set(without)}
    known = {name: [cell for cell in cells if not says_nothing(cell)] for name, cells in chosen.items()}
    fields = {name: _guess(name, known[name]) for name in chosen if len(set(known[name])) > 1}
    guessed = {name: field for name, field in fields.items() if field}
    if not guessed:
        raise ConfigurationError("no column is left that says anything about a person")
    return guessed


def encoded(fields: Mapping[str, Field], columns: Columns) -> NDArray[np.float64]:
    """A row of features for each row of the table.

    >>> encoded({"age": Number(low=20.0, high=60.0), "member": Flag()}, {"age": ["50"], "member": ["no"]}).round(3)
    array([[ 0.577,  0.289, -0.577]])
    """
    for name in fields:
        if name not in columns:
            raise UnknownName("column", name, columns)
    return vector(np, fields, {name: _values(name, field, columns[name]) for name, field in fields.items()})


def numbers_of(columns: Columns, name: str) -> NDArray[np.float64]:
    """A column of finite numbers."""
    check_complete(columns, name)
    return _values(name, Number(low=0.0, high=1.0), columns[name])


def _values(name: str, field: Field, cells: list[str]) -> NDArray[Any]:
    """One column as `vector` takes it: numbers (1 and 0 for a flag), or the place of a word (-1: none of them)."""
    if isinstance(field, Category):
        places = {word: place for place, word in enumerate(field.values)}
        return np.array([places.get(cell, -1) for cell in cells])
    found = []
    for row, cell in enumerate(cells, 1):
        try:
            found.append(math.nan if says_nothing(cell) else from_text(name, field, cell))
        except BadInput as error:
            raise ConfigurationError(f"row {row}: {error}") from error
    return np.array(found, dtype=float)


def _guess(name: str, cells: list[str]) -> Field | None:
    """The field of a column with these values; none where they are too many words."""
    words = sorted(set(cells))
    if all(word.lower() in FLAGS for word in words):
        return Flag()
    try:
        numbers = np.array([number_from(name, cell) for cell in cells])
    except BadInput:
        return Category(values=tuple(words)) if len(words) <= MOST_WORDS else None
    return _range_of(numbers)


def _range_of(numbers: NDArray[np.float64]) -> Number:
    """Where nine of ten of these numbers lie, and the median of those within; all of them where most are equal.

    >>> _range_of(np.array([0.0] * 50 + [10.0, 20.0, 30.0] * 20))
    Number(low=0.0, high=30.0, middle=15.0)
    """
    low, high = np.quantile(numbers, (OUTSIDE, 1 - OUTSIDE), method="nearest")
    if low == high:
        low, high = numbers.min(), numbers.max()
    within = numbers[(numbers > low) & (numbers < high)]
    return Number(low=float(low), high=float(high), middle=float(np.median(within)) if len(within) else None)


def _example(name: str) -> Columns:
    try:
        from sklearn import datasets  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        raise ConfigurationError(f"{name} comes with scikit-learn: pip install 'sottovoce[data]'") from None
    data = getattr(datasets, f"load_{name}")()
    columns = {str(heading): cells for heading, cells in zip(data.feature_names, data.data.T.tolist(), strict=True)}
    columns["target"] = [data.target_names[place] for place in data.target]
    return {heading: [str(cell) for cell in cells] for heading, cells in columns.items()}
