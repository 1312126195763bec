"""Does what the fields say hold for people whose rows were not seen?

In a trial rows come again and again, so few rows for many fields are learned by heart. Beside the runs stands therefore
a check that needs none: a linear model of every action's reward, by least squares with the weight of one row against
large coefficients, is fitted to four fifths of the rows and chooses for the people of the last fifth, each in turn.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FOLDS = 5


class Unseen(NamedTuple):
    """What people get on average whose rows the linear model has not seen."""

    mean: float
    error: float
    """The standard error of the mean."""
    clear: bool
    """Is it better than the best fixed action by more than chance? Two standard errors, of differences with mean 0."""
    chosen: NDArray[np.int64]
    """The action of each row, by a model of other rows."""


def unseen(people: NDArray[np.float64], rewards: NDArray[np.float64]) -> Unseen:
    """`rewards` has a column per action: what it would bring, or in a log an estimate that is right on average.

    >>> unseen(np.array([[1.0, 1.0], [1.0, -1.0]] * 10), np.array([[1.0, 0.0], [0.0, 1.0]] * 10)).clear
    True
    """
    parts = np.array_split(np.random.default_rng(0).permutation(len(people)), FOLDS)
    pairs = [(people[part], rewards[part]) for part in parts]
    sums = [(x.T @ x, x.T @ brought) for x, brought in pairs]
    gram, moment = (sum(each) for each in zip(*sums, strict=True))
    chosen = np.zeros(len(people), int)
    for part, (own_gram, own_moment) in zip(parts, sums, strict=True):
        weights = np.linalg.solve(gram - own_gram + np.eye(people.shape[1]), moment - own_moment)
        chosen[part] = (people[part] @ weights).argmax(axis=1)
    found = rewards[np.arange(len(people)), chosen]
    gains = found - rewards[:, rewards.sum(axis=0).argmax()]
    clear = gains.sum() > 2 * math.sqrt(np.sum(gains**2))
    return Unseen(float(found.mean()), float(found.std()) / math.sqrt(len(people)), bool(clear), chosen)
