"""What `sottovoce try` does with a column of many words: made-up tables with one such column and two of numbers.

The word of rank r is that of a person with a chance in proportion to 1/r^power: cities, products and occupations are
so, names are not. What is right for a person (`answers`), or how likely each action is good (`chances`), depends on the
word and on the numbers. In the tables `idle` it depends on the numbers alone.

Prints for each table and guess the share of the way from uniform play to the best action of each row, in the last tenth
of 100,000 people, at epsilon 1, 4, 8 and without privacy; then the mean over all tables.

    python experiments/tuning/words.py            all of it
    python experiments/tuning/words.py --quick    1,000 people: a short look, to see that it works
"""

import argparse

import numpy as np
from tables import ROWS, MadeUp, learned

from sottovoce.protocol.fields import Category, Field, Number
from sottovoce.users.fields import vector

ACTIONS, NUMBERS = 3, 2
TABLES = ((40, 1.0), (200, 1.0), (1000, 1.0), (40, 0.0), (200, 0.0))
"""How many words, and the power."""
GUESSES = {"left out": 0, "10 words": 10, "20 words": 20, "30 words": 30}
"""How many words become values of a category; any other is none of them."""


def made_up(kind: str, words: int, power: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The place of each row's word by rank, its numbers, and the mean reward of every action."""
    draw = np.random.default_rng([words, int(power), sum(map(ord, kind))])
    chances = np.arange(1, words + 1.0) ** -power
    word = draw.choice(words, ROWS, p=chances / chances.sum())
    numbers = draw.normal(size=(ROWS, NUMBERS))
    scores = (
        numbers @ draw.normal(size=(NUMBERS, ACTIONS)) + (kind != "idle") * draw.normal(size=(words, ACTIONS))[word]
    )
    if kind == "answers":
        return word, numbers, np.eye(ACTIONS)[scores.argmax(axis=1)]
    low, high = np.quantile(scores, (0.01, 0.99))
    return word, numbers, 0.1 + 0.8 * np.clip((scores - low) / (high - low), 0.0, 1.0)


def world_of(word: np.ndarray, numbers: np.ndarray, means: np.ndarray, kept: int) -> MadeUp:
    fields: dict[str, Field] = {f"n{i}": Number(low=-2.0, high=2.0) for i in range(NUMBERS)}
    values = dict(zip(fields, numbers.T, strict=True))
    if kept:
        fields["word"] = Category(values=tuple(map(str, range(kept))))
        values["word"] = np.where(word < kept, word, -1)
    people = vector(np, fields, values)
    return MadeUp(arms=ACTIONS, dimension=ACTIONS * people.shape[1], people=people, means=means)


def main() -> None:
    """Print a line for each table and guess."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 people")
    people = 1_000 if parser.parse_args().quick else 100_000
    found: dict[str, list[list[float]]] = {guess: [] for guess in GUESSES}
    for kind in ("answers", "chances", "idle"):
        for words, power in TABLES:
            table = made_up(kind, words, power)
            for guess, kept in GUESSES.items():
                shares = learned(world_of(*table, kept), "scale-free", kind == "answers", people)
                found[guess].append(shares)
                covered = np.mean(table[0] < kept)
                line = f"{kind:8} {words:4} ^{power:g} {guess:9} of {covered:4.0%}"
                print(line, *(f"{share:7.1%}" for share in shares), flush=True)
    for guess, rows in found.items():
        print(f"{'mean':16} {guess:17}", *(f"{share:7.1%}" for share in np.mean(rows, axis=0)))


if __name__ == "__main__":
    main()
