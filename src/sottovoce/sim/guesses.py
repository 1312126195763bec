"""The fields of a table, guessed from what its cells say.

A column of numbers becomes a number field: its range is where nine of ten values lie, its middle their median. Yes and
no (also 1 and 0) become a flag, words a category; of many words the most frequent. Numbers stay numbers even where they
take few values: that costs one coordinate, a category one for each value. Left out are columns that never change, that
have too many words of which none is frequent, or that number the rows.
"""

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.task_checks import is_plain
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.protocol.fields import Category, Field, Flag, Number
from sottovoce.users.cells import decimal_comma, is_flag, number_in, says_nothing, values_of

MOST_WORDS = 30
"""A category with more values would cost too much: a coordinate for each."""
FREQUENT, COVERED, LEAST_OFTEN = 10, 0.25, 10
"""Of a column with more words so many are kept, if so large a share of its rows says one of them, and so many rows
each: see experiments/tuning/words.py."""
OUTSIDE = 0.05
"""The share of a column's numbers below its range, and above it: see experiments/tuning/ranges.py."""
CUT = 0.5
"""A range of rewards is only cut if at most so much of it is left: see experiments/tuning/rewards.py."""
PAIRS = 14
"""Whole numbers that were drawn at random, of which this many pairs are expected to be equal, are all different with a
chance of e^-14, one in a million."""
CODE = re.compile(r"0\d+")
"""A number is not written so, but a code is."""
NUMBERED = "Another whole number in every row, as if it numbered them, so left out"

Guess = Field | str
"""A field, or in words why there is none."""


def guesses(columns: dict[str, list[str]], without: Iterable[str] = ()) -> dict[str, Guess]:
    """What each of these columns would be."""
    skipped = set(without)
    return {name: _guess(cells) for name, cells in columns.items() if name not in skipped}


def guessed_fields(columns: dict[str, list[str]], without: Iterable[str] = ()) -> dict[str, Field]:
    """A field for every column that says something about people and does not name each of them.

    >>> guessed_fields({"age": ["20", "31.5"], "member": ["yes", "no"], "shop": ["b", "a"], "year": ["7", "7"]})
    {'age': Number(low=20.0, high=31.5, middle=None), 'member': Flag(), 'shop': Category(values=('a', 'b'))}
    """
    fields = {name: guess for name, guess in guesses(columns, without).items() if not isinstance(guess, str)}
    if not fields:
        raise ConfigurationError("no column is left that says anything about a person")
    return fields


def _guess(cells: list[str]) -> Guess:
    known = [cell for cell in cells if not says_nothing(cell)]
    words = sorted(set(known))
    if len(words) < 2:
        return "The same in every row, so left out"
    if all(map(is_flag, words)) and len({*values_of("", Flag(), words)}) == 2:
        return Flag()
    comma, codes = decimal_comma(words), any(map(CODE.fullmatch, words))
    numbers = {word: None if codes else number_in(word, comma) for word in words}
    found = np.array([numbers[word] for word in known if numbers[word] is not None])
    if len(found) == len(known):
        return NUMBERED if _counts(found) else _range_of(found)
    if len(words) <= MOST_WORDS:
        return _category(words)
    if 2 * len(found) > len(known):
        odd = next(word for word in words if numbers[word] is None)
        return f"Numbers, but also {odd!r}, so left out (empty such cells to use it)"
    counts = sorted(((count, word) for word, count in Counter(known).items()), reverse=True)[:FREQUENT]
    if counts[-1][0] >= LEAST_OFTEN and sum(count for count, _ in counts) >= COVERED * len(known):
        return _category(sorted(word for _, word in counts))
    return f"More than {MOST_WORDS} different words, so left out (group them to use them)"


def _category(words: list[str]) -> Guess:
    """Of the words that a task may name: a cell with another one counts as none of them."""
    plain = tuple(filter(is_plain, words))
    return Category(values=plain) if len(plain) > 1 else "Words with line breaks or control characters, so left out"


def _counts(numbers: NDArray[np.float64]) -> bool:
    """Are these whole numbers that are all different although some would be equal if they said something else?

    >>> _counts(np.arange(100.0)), _counts(np.arange(100.0) ** 3)
    (True, False)
    """
    if (numbers % 1).any() or len(np.unique(numbers)) < len(numbers):
        return False
    return bool(len(numbers) ** 2 / 2 > PAIRS * (np.ptp(numbers) + 1))


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


def usual_rewards(rewards: NDArray[np.float64]) -> tuple[float, float]:
    """From the smallest to the largest, except where few are far away from all others.

    Of those above the smallest 19 of 20 lie below the upper end, and the same the other way round.

    >>> usual_rewards(np.array([0.0] * 900 + [20.0, 30.0] * 49 + [9000.0])), usual_rewards(np.array([1.0, 4.0, 5.0]))
    ((0.0, 30.0), (1.0, 5.0))
    """
    least, most = float(rewards.min()), float(rewards.max())
    if least == most:
        return least, most
    low = float(np.quantile(rewards[rewards < most], OUTSIDE, method="nearest"))
    high = float(np.quantile(rewards[rewards > least], 1 - OUTSIDE, method="nearest"))
    return (low, high) if 0 < high - low <= CUT * (most - least) else (least, most)
