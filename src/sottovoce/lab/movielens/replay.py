"""The authors' published run on MovieLens, replayed with its own random numbers: does our world equal theirs?

The code published with Zheng et al. 2020 (huang-research-group/LDPbandit2020) is not the algorithm of the paper. It
does differently, and this file with it:

- epsilon = 800,000 and delta = 0.1, which protect nobody;
- sigma = 4 sqrt(ln(1.25/delta))/epsilon, without the sqrt 2 that its own description has;
- the bonus is beta x'V^-1 x, without the square root;
- no floor under the ridge c_t = 2 Upsilon_t, which epsilon makes small; the first round has c = 0.1;
- single precision.

Its README prints the first five rounds, and a regret of 962.4 after a million. Persons come from Python's generator
with seed 0 and noise from NumPy's old one with seed 0, so a faithful copy must print the same.
"""

import math
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.protocol.budget import Budget

BUDGET = Budget(epsilon=800_000.0, delta=0.1)
ALPHA = 0.1
HORIZON = 1_000_000
"""The published number of rounds; the constants depend on it, however many are played."""

PRINTED_REGRET = 962.4
"""What the README of the published code says for them."""


class Code(NamedTuple):
    """What the published code does; each field can be changed into what the algorithm box says."""

    number: type = np.float32
    """The box has no precision."""
    sigma: float = 4 * math.sqrt(math.log(1.25 / BUDGET.delta)) / BUDGET.epsilon
    root: float = 1.0
    """The power of x'V^-1 x in the bonus; the box has its square root."""
    horizon: int = HORIZON
    """T, in the constants: the box has the rounds that are played."""


PUBLISHED = Code()
CHANGES = {
    "double precision": "number",
    "sigma of the box": "sigma",
    "bonus with its square root": "root",
    "T of this run": "horizon",
}
"""From the published code to the box: what changes, and the field."""


def box(rounds: int) -> Code:
    """What the algorithm box says for so many rounds."""
    return Code(np.float64, 6 * math.sqrt(2 * math.log(2.5 / BUDGET.delta)) / BUDGET.epsilon, 0.5, rounds)


class Replay(NamedTuple):
    regret: NDArray[np.float64]
    """Cumulated, after each round."""
    distance: NDArray[np.float64]
    """The sum of |theta - theta*| over the entries, after each round."""


def apart(rounds: int) -> Iterator[tuple[str, Code, Code]]:
    """Each change: its name, the published code with this change alone, and with all changes up to this one.

    >>> [together == box(50) for _, _, together in apart(50)]
    [False, False, False, True]
    """
    together = PUBLISHED
    for name, field in CHANGES.items():
        change = {field: getattr(box(rounds), field)}
        together = together._replace(**change)
        yield name, PUBLISHED._replace(**change), together


def replay(
    features: NDArray[np.float64],
    theta: NDArray[np.float64],
    rounds: int,
    progress: Callable[[int], None] | None = None,
    code: Code = PUBLISHED,
) -> Replay:
    """The first rounds of the published code's learner on this table of features."""
    people, noise = random.Random(0), np.random.RandomState(0)
    number, sigma = code.number, code.sigma
    rewards, seen = (features @ theta).astype(number), features.astype(number)
    dimension = len(theta)
    eye = np.eye(dimension, dtype=number)
    gram, moment, guess, precision = 0 * eye, 0 * eye[0], 0 * eye[0], np.linalg.inv(number(0.1) * eye)
    regret, distance = np.zeros(rounds), np.zeros(rounds)
    for round in range(rounds):
        person = people.randint(0, len(seen) - 1)
        ridge, width = _ridge_and_width(round + 1, dimension, sigma, code.horizon)
        x = seen[person]
        action = np.argmax(x @ guess + width * np.maximum(np.sum((x @ precision) * x, axis=1), 0.0) ** code.root)
        reward = rewards[person, action]
        gram += np.outer(x[action], x[action]) + _symmetric(noise.normal(0, sigma, (dimension, dimension))).astype(
            number
        )
        moment += x[action] * reward + noise.normal(0, sigma, dimension).astype(number)
        precision = np.linalg.inv(gram + number(ridge) * eye)
        guess = precision @ moment
        regret[round] = rewards[person].max() - reward
        distance[round] = np.abs(guess - theta).sum()
        if progress and (round + 1) % 1000 == 0:
            progress(1000)
    return Replay(np.cumsum(regret), distance)


def _ridge_and_width(time: int, dimension: int, sigma: float, horizon: int) -> tuple[float, float]:
    """c_t = 2 Upsilon_t and beta_t of the algorithm box."""
    spectral = sigma * math.sqrt(time) * (4 * math.sqrt(dimension) + 2 * math.log(2 * horizon / ALPHA))
    bias = math.sqrt(3 * spectral) + sigma * math.sqrt(dimension * time / spectral)
    log = math.log(horizon)
    return 2 * spectral, 2 * sigma * math.sqrt(dimension * log) + bias * dimension * log


def _symmetric(noise: NDArray[np.float64]) -> NDArray[np.float64]:
    """The upper triangle, mirrored."""
    upper = np.triu(noise)
    return upper + np.triu(noise, 1).T
