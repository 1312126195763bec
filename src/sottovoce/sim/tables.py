"""Tables of people, read from a CSV file or from scikit-learn: fields guessed, rows encoded as on a device.

A column of numbers becomes a number field with the smallest and the largest value as its range, yes and no (also 1 and
0) a flag, words a category. Numbers stay numbers even where they take few values: that costs one coordinate, a category
one for each value. A column that never changes is left out.
"""

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
    if len(columns) == 1 and any(mark in (only := next(iter(columns))) for mark in ";\t"):
        raise ConfigurationError(f"{path} has one column, {only!r}; save it with commas between the cells")
    if "(more)" in columns:
        raise ConfigurationError(f"{path}: a row has more cells than there are headings")
    return columns


def check_columns(columns: Columns, names: Iterable[str], otherwise: str = "") -> None:
    """Refuse a name that is no column, and a column with missing values; `otherwise` is what else can be done."""
    for name in names:
        if name not in columns:
            raise UnknownName("column", name, columns)
        if missing := sum(cell.strip().lower() in MISSING for cell in columns[name]):
            raise ConfigurationError(
                f"column {name!r} has no value in {missing:,} of {len(columns[name]):,} rows: fill them in, or remove "
                f"these rows{otherwise}"
            )


def answers_of(columns: Columns, name: str, known: tuple[str, ...] = ()) -> Answers:
    """The column of this name as actions: those that are `known`, or all that occur."""
    check_columns(columns, [name])
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
    """A field for every column that changes, by what its cells say.

    >>> guessed_fields({"age": ["20", "31.5"], "member": ["yes", "no"], "shop": ["b", "a"], "year": ["7", "7"]})
    {'age': Number(low=20.0, high=31.5), 'member': Flag(), 'shop': Category(values=('a', 'b'))}
    """
    chosen = [name for name in columns if name not in set(without)]
    check_columns(columns, chosen, ", or leave the column out with --ignore")
    guessed = {name: _guess(name, sorted(set(columns[name]))) for name in chosen if len(set(columns[name])) > 1}
    if not guessed:
        raise ConfigurationError("no column is left that says anything about a person")
    return guessed


def encoded(fields: Mapping[str, Field], columns: Columns) -> NDArray[np.float64]:
    """A row of features for each row of the table.

    >>> encoded({"age": Number(low=20.0, high=60.0), "member": Flag()}, {"age": ["50"], "member": ["no"]}).round(3)
    array([[ 0.577,  0.289, -0.577]])
    """
    check_columns(columns, fields)
    return vector(np, fields, {name: _values(name, field, columns[name]) for name, field in fields.items()})


def numbers_of(columns: Columns, name: str) -> NDArray[np.float64]:
    """A column of finite numbers."""
    check_columns(columns, [name])
    return _values(name, Number(low=0.0, high=1.0), columns[name])


def _values(name: str, field: Field, cells: list[str]) -> NDArray[Any]:
    """One column as `vector` takes it: numbers, true or false, or the place of a word (-1: none of them)."""
    if isinstance(field, Category):
        places = {word: place for place, word in enumerate(field.values)}
        return np.array([places.get(cell, -1) for cell in cells])
    found = []
    for row, cell in enumerate(cells, 1):
        try:
            found.append(from_text(name, field, cell))
        except BadInput as error:
            raise ConfigurationError(f"row {row}: {error}") from error
    return np.array(found)


def _guess(name: str, words: list[str]) -> Field:
    """The field of a column in which these different words occur."""
    if all(word.lower() in FLAGS for word in words):
        return Flag()
    try:
        numbers = [number_from(name, word) for word in words]
    except BadInput:
        if len(words) > MOST_WORDS:
            raise ConfigurationError(
                f"column {name!r} has {len(words):,} different words, as {words[0]!r}; a category has at most "
                f"{MOST_WORDS}: leave it out with --ignore {name!r}, or group them"
            ) from None
        return Category(values=tuple(words))
    return Number(low=min(numbers), high=max(numbers))


def _example(name: str) -> Columns:
    try:
        from sklearn import datasets  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        raise ConfigurationError(f"{name} comes with scikit-learn: pip install 'sottovoce[data]'") from None
    data = getattr(datasets, f"load_{name}")()
    columns = {str(heading): cells for heading, cells in zip(data.feature_names, data.data.T.tolist(), strict=True)}
    columns["target"] = [data.target_names[place] for place in data.target]
    return {heading: [str(cell) for cell in cells] for heading, cells in columns.items()}
