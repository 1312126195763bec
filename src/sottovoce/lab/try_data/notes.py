"""What must be said of a table before it is tried: what was left out, what is not known, and what tells too much."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sottovoce.protocol.fields import Category, Field
from sottovoce.sim.guesses import Guess
from sottovoce.sim.tables import Answers, Columns, encoded
from sottovoce.users.cells import says_nothing

OFTEN = 10
"""Rows for each word of a column, on average, before it can be said that its words decide something."""
NEARLY_ALL = 0.9
"""The share of the variance of rewards that one field would hardly explain if it were known before the action. The
field is clipped, so it explains less than all even where it is the reward."""


def left_out(guessed: Mapping[str, Guess]) -> list[str]:
    """Why no field was guessed for some columns."""
    names: dict[str, list[str]] = {}
    for name, guess in guessed.items():
        if isinstance(guess, str):
            names.setdefault(guess, []).append(name)
    return [f"{reason}: {', '.join(sorted(columns))}." for reason, columns in sorted(names.items(), reverse=True)]


def empty_cells(fields: Mapping[str, Field], columns: Columns) -> list[str]:
    """How many cells of each field have no value, where there are any."""
    counts = {name: sum(map(says_nothing, columns[name])) for name in fields}
    return [f"{count:,} of {len(columns[name]):,} in {name}" for name, count in counts.items() if count]


def other_words(fields: Mapping[str, Field], columns: Columns) -> list[str]:
    """How many cells of each category have another word, where there are any."""
    values = {name: {*field.values} for name, field in fields.items() if isinstance(field, Category)}
    counts = {
        name: sum(cell not in known and not says_nothing(cell) for cell in columns[name])
        for name, known in values.items()
    }
    return [f"{count:,} of {len(columns[name]):,} in {name}" for name, count in counts.items() if count]


def tells_answer(fields: Mapping[str, Field], columns: Columns, answers: Answers) -> tuple[str, ...]:
    """Columns in which every word has one answer only."""
    found = []
    for name in fields:
        pairs = set(zip(columns[name], answers.places.tolist(), strict=True))
        words = len({word for word, _ in pairs})
        if len(pairs) == words and words * OFTEN <= len(answers.places):
            found.append(name)
    return _tells_too_much(found, "the right answer")


def tells_reward(fields: Mapping[str, Field], columns: Columns, rewards: NDArray[np.float64]) -> tuple[str, ...]:
    """Fields that alone say what the reward is, nearly, whatever was done."""
    found, spread = [], float(np.var(rewards)) * len(rewards)
    for name, field in fields.items():
        x = encoded({name: field}, columns)
        left = rewards - x @ np.linalg.lstsq(x, rewards)[0]
        if len(rewards) >= OFTEN * x.shape[1] and np.sum(left**2) < (1 - NEARLY_ALL) * spread:
            found.append(name)
    return _tells_too_much(found, "what the reward is")


def _tells_too_much(names: list[str], what: str) -> tuple[str, ...]:
    if not names:
        return ()
    say = f"{names[0]!r} alone says" if len(names) == 1 else f"Each of {', '.join(map(repr, names))} alone says"
    return (f"{say} {what}. If it is only known after the action, these results are wrong: leave it out (--ignore).",)
