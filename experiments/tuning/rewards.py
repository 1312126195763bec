"""Which range `sottovoce try` guesses for a column of rewards: made-up logs, most of them of money.

What an action brings depends on normal numbers, the fields of a person. It is an amount that varies a little, an amount
of which a few are very large, an order that few or very few people make, stars, a click, or an amount among which two
of a thousand are mistakes. Regret counts the rewards as they are; the learner is told them clipped to the range.

Prints for each log and guess the share of the way from uniform play to the best action of each row, in the last tenth
of 100,000 people, at epsilon 1, 4, 8 and without privacy; then the mean over all logs.

    python experiments/tuning/rewards.py            all of it
    python experiments/tuning/rewards.py --quick    1,000 people: a short look, to see that it works
"""

import argparse
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tables import ROWS, learned

from sottovoce.learners.base import Key, configuration
from sottovoce.users.fields import in_blocks

ACTIONS, FIELDS, DRAWS = 3, 4, 50
"""Each action has so many possible rewards in each row."""
Draw = np.random.Generator


def orders(score: np.ndarray, draw: Draw, often: float) -> np.ndarray:
    """Few people buy, and some of them for much."""
    return (draw.random(score.shape) < often * np.exp(score / 2)) * np.exp(3 + draw.normal(size=score.shape))


FORMS: dict[str, Callable[[np.ndarray, Draw], np.ndarray]] = {
    "even": lambda score, draw: score + draw.normal(size=score.shape),
    "amounts": lambda score, draw: np.exp(3 + score / 2 + 1.2 * draw.normal(size=score.shape)),
    "orders": lambda score, draw: orders(score, draw, 0.2),
    "rare orders": lambda score, draw: orders(score, draw, 0.02),
    "stars": lambda score, draw: np.clip(np.round(3.5 + score / 2 + draw.normal(size=score.shape)), 1, 5),
    "clicks": lambda score, draw: (draw.random(score.shape) < 0.1 * np.exp(score / 2)).astype(float),
    "mistakes": lambda score, draw: score + draw.normal(size=score.shape) + 200 * (draw.random(score.shape) < 0.002),
}
"""Rewards of a score that is standard normal."""
GUESSES: dict[str, tuple[float, float]] = {
    "all": (0.0, 1.0),
    "1 %": (0.01, 1.0),
    "5 %": (0.05, 1.0),
    "10 %": (0.10, 1.0),
    "1 %, if half": (0.01, 0.5),
    "5 %, if half": (0.05, 0.5),
    "10 %, if half": (0.10, 0.5),
}
"""The share of rewards above the smallest that may lie above the range, as of those below the largest below it; and the
range is only cut if at most so much of it is left."""


def guessed(rewards: np.ndarray, outside: float, left: float) -> tuple[float, float]:
    """The range of a column of rewards."""
    low, high = rewards.min(), rewards.max()
    lower = np.quantile(rewards[rewards < high], outside, method="nearest")
    upper = np.quantile(rewards[rewards > low], 1 - outside, method="nearest")
    return (lower, upper) if 0 < upper - lower <= left * (high - low) else (low, high)


@configuration("arms", "dimension")
class Rewarding:
    """Rows of encoded fields, and what each action may bring in each: as it is in `means`, clipped in `told`."""

    arms: int
    dimension: int
    people: Any
    means: Any
    told: Any

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        return jax.random.randint(key, (), 0, len(self.people))

    def shown(self, context: jax.Array) -> jax.Array:
        return in_blocks(jnp, self.arms, jnp.asarray(self.people)[context])

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        return jnp.asarray(self.told)[context, action, jax.random.randint(key, (), 0, DRAWS)]

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        means = jnp.asarray(self.means)[context]
        return jnp.max(means) - means[action]


def world_of(form: str, outside: float, left: float) -> Rewarding:
    draw = np.random.default_rng(sum(map(ord, form)))
    fields = draw.normal(size=(ROWS, FIELDS))
    scores = fields @ draw.normal(size=(FIELDS, ACTIONS)) / np.sqrt(FIELDS)
    rewards = FORMS[form](np.repeat(scores[..., None], DRAWS, axis=2), draw)
    logged = rewards[np.arange(ROWS), draw.integers(0, ACTIONS, ROWS), 0]
    low, high = guessed(logged, outside, left)
    people = np.column_stack([np.ones(ROWS), np.clip(fields / 2, -1, 1)]) / np.sqrt(1 + FIELDS)
    told = 2 * (np.clip(rewards, low, high) - low) / (high - low) - 1
    means = rewards.mean(axis=2) / np.ptp(rewards.mean(axis=2))
    return Rewarding(arms=ACTIONS, dimension=ACTIONS * (1 + FIELDS), people=people, means=means, told=told)


def main() -> None:
    """Print a line for each log and guess."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 people")
    people = 1_000 if parser.parse_args().quick else 100_000
    found: dict[str, list[list[float]]] = {guess: [] for guess in GUESSES}
    for form in FORMS:
        for guess, numbers in GUESSES.items():
            shares = learned(world_of(form, *numbers), "scale-free", one_right=False, people=people)
            found[guess].append(shares)
            print(f"{form:11} {guess:13}", *(f"{share:7.1%}" for share in shares), flush=True)
    for guess, rows in found.items():
        print(f"{'mean':11} {guess:13}", *(f"{share:7.1%}" for share in np.mean(rows, axis=0)))


if __name__ == "__main__":
    main()
