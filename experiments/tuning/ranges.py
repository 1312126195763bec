"""Which range `sottovoce try` guesses for a column of numbers: made-up tables, most of them skewed.

What is right for a person, or how likely each action is to be good, depends on normal numbers (as in `tables.py`).
Columns show them in another form: as they are, as incomes (their exponential), as visits (often 0, sometimes
hundreds), or as the share of their order. In the tables `raw` it depends on the columns as they are shown.

Prints for each table and guess the share of the way from uniform play to the best action of each row, in the last tenth
of 100,000 people, at epsilon 1, 4, 8 and without privacy; then the mean over all tables.

    python experiments/tuning/ranges.py            all of it
    python experiments/tuning/ranges.py --quick    1,000 people: a short look, to see that it works
"""

import argparse
from collections.abc import Callable

import numpy as np
from tables import ROWS, MadeUp, learned

from sottovoce.protocol.fields import Number
from sottovoce.users.fields import vector

ACTIONS, COLUMNS = 3, 4
FORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "even": lambda z: z,
    "incomes": lambda z: np.exp(1.5 * z),
    "visits": lambda z: np.floor(np.exp(2 * np.maximum(z, 0.0)) - 1),
    "ranks": lambda z: np.argsort(np.argsort(z)) / len(z),
    "far away": lambda z: z + 50 * (np.random.default_rng(1).random(len(z)) < 0.002),
}
"""How a normal number is shown; in "far away" two rows of a thousand are mistakes."""
GUESSES: dict[str, tuple[float, bool]] = {
    "all": (0.0, False),
    "all, middle": (0.0, True),
    "1 %": (0.01, False),
    "1 %, middle": (0.01, True),
    "5 %": (0.05, False),
    "5 %, middle": (0.05, True),
    "10 %, middle": (0.10, True),
}
"""What share of rows may lie outside on each side, and whether the median becomes the middle."""


def guessed(values: np.ndarray, outside: float, with_middle: bool) -> Number:
    """The range in which all but so many rows lie, if that is one."""
    low, high = np.quantile(values, (outside, 1 - outside))
    if low == high:
        low, high = values.min(), values.max()
    within = values[(values > low) & (values < high)]
    return Number(low=low, high=high, middle=float(np.median(within)) if with_middle and len(within) else None)


def made_up(kind: str, form: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns as they are shown, and the mean reward of every action in each row."""
    draw = np.random.default_rng([len(kind), sum(map(ord, form))])
    answers = draw.integers(0, ACTIONS, ROWS)
    hidden = draw.normal(size=(ACTIONS, COLUMNS))[answers] * (kind == "answers") + draw.normal(size=(ROWS, COLUMNS))
    shown = np.column_stack([FORMS[form](column) for column in hidden.T])
    if kind == "answers":
        return shown, np.eye(ACTIONS)[answers]
    decides = hidden if kind == "chances" else (shown - shown.mean(axis=0)) / shown.std(axis=0)
    scores = decides @ draw.normal(size=(COLUMNS, ACTIONS))
    low, high = np.quantile(scores, (0.01, 0.99))
    return shown, 0.1 + 0.8 * np.clip((scores - low) / (high - low), 0.0, 1.0)


def world_of(shown: np.ndarray, means: np.ndarray, outside: float, with_middle: bool) -> MadeUp:
    names = [f"c{i}" for i in range(COLUMNS)]
    fields = {name: guessed(column, outside, with_middle) for name, column in zip(names, shown.T, strict=True)}
    people = vector(np, fields, dict(zip(names, shown.T, strict=True)))
    return MadeUp(arms=ACTIONS, dimension=ACTIONS * (1 + COLUMNS), people=people, means=means)


def main() -> None:
    """Print a line for each table and guess."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 people")
    people = 1_000 if parser.parse_args().quick else 100_000
    found: dict[str, list[list[float]]] = {guess: [] for guess in GUESSES}
    for kind in ("answers", "chances", "raw"):
        for form in FORMS:
            table = made_up(kind, form)
            for guess, numbers in GUESSES.items():
                shares = learned(world_of(*table, *numbers), "scale-free", kind == "answers", people)
                found[guess].append(shares)
                print(f"{kind:8} {form:9} {guess:13}", *(f"{share:7.1%}" for share in shares), flush=True)
    for guess, rows in found.items():
        print(f"{'mean':18} {guess:13}", *(f"{share:7.1%}" for share in np.mean(rows, axis=0)))


if __name__ == "__main__":
    main()
