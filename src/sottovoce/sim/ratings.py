"""MovieLens 100K from where a person has it. The data is not ours to give: it is never part of this package.

Two places are looked at: a path the person names, and the package `recbole`, which carries the file `u.data` under
another name. The published experiment reads `ua.base`, which is `u.data` without ten ratings of every person. Those
ten are the first ten of that person in the order of `u.data`, so `ua.base` follows from `u.data`. Made that way from
recbole 1.2.1, its singular values are those which the authors print as their ground truth, in all digits.
"""

import itertools
from importlib import metadata
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.protocol.errors import ConfigurationError

HELD_OUT = 10
"""Ratings of each person that `ua.base` leaves to `ua.test`."""

NAMES = ("ua.base", "ml-100k/ua.base", "u.data", "ml-100k/u.data", "ml-100k.inter")
"""What a folder is searched for, first to last."""

LICENCE = (
    "MovieLens 100K, GroupLens Research, University of Minnesota. For research; no redistribution and no commercial "
    "use without permission. Cite F. M. Harper and J. A. Konstan, The MovieLens Datasets: History and Context, ACM "
    "TiiS 5(4), 2015."
)

MISSING = (
    "MovieLens 100K is not here, and its licence does not let us ship it. Either `pip install --no-deps recbole`, "
    "which carries it, or unpack ml-100k.zip of GroupLens and name that folder, or its ua.base, with --data PATH"
)


class Ratings(NamedTuple):
    """The lines of `ua.base`: numbers of persons and movies start at 1, ratings are 1 to 5."""

    users: NDArray[np.int64]
    movies: NDArray[np.int64]
    stars: NDArray[np.float64]
    source: str
    """Where they come from, in words."""


def ratings_of(path: str = "") -> Ratings:
    """The ratings of `ua.base`, from this file or folder, or without one from the installed package recbole."""
    file = _within(Path(path)) if path else _in_recbole()
    rows, source = _rows(file), "ua.base"
    if file.name != "ua.base":
        rows, source = _without_test(rows), f"ua.base, made from {'u.data' if path else _recbole()}"
    users, movies, stars = np.array(rows, float).reshape(-1, 3).T
    return Ratings(users.astype(int), movies.astype(int), stars, source)


def _within(path: Path) -> Path:
    """The file itself, or the first known name in the folder."""
    if path.is_file():
        return path
    found = next((path / name for name in NAMES if (path / name).is_file()), None)
    if found is None:
        raise ConfigurationError(f"{path} holds neither ua.base nor u.data; {MISSING}")
    return found


def _in_recbole() -> Path:
    """Asks the package's list of files: importing recbole would need all that it depends on."""
    try:
        files = metadata.files("recbole") or []
    except metadata.PackageNotFoundError:
        raise ConfigurationError(MISSING) from None
    found = [Path(str(file.locate())) for file in files if file.name == "ml-100k.inter"]
    if not found or not found[0].is_file():
        raise ConfigurationError(f"the installed recbole does not carry it. {MISSING}")
    return found[0]


def _recbole() -> str:
    return f"the u.data in recbole {metadata.version('recbole')}"


def _rows(file: Path) -> list[tuple[int, int, float]]:
    """Person, movie, rating of every line; recbole's file has a line of names above them."""
    lines = file.read_text(encoding="utf-8").splitlines()
    if lines and lines[0].startswith("user_id"):
        lines = lines[1:]
    try:
        rows = [(int(user), int(movie), float(stars)) for user, movie, stars, *_ in map(str.split, lines)]
    except ValueError as error:
        raise ConfigurationError(f"{file} is not a list of person, movie, rating: {error}") from error
    if not rows or any(user < 1 or movie < 1 or not 1 <= stars <= 5 for user, movie, stars in rows):
        raise ConfigurationError(f"{file} must hold ratings from 1 to 5 of persons and movies counted from 1")
    return rows


def _without_test(rows: list[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """`ua.base` from `u.data`: without the first ten lines of each person, in order."""
    persons = itertools.groupby(sorted(rows, key=itemgetter(0)), itemgetter(0))  # the order of each stays
    return sorted(row for _, own in persons for row in itertools.islice(own, HELD_OUT, None))
