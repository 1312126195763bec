"""What every prediction shares: several paths of one run, and what a report tells about an arm."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.catalogue.task import Task
from sottovoce.privacy.levels.mechanism import Levels
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.privacy.noise import Noise
from sottovoce.privacy.reading import noise_of

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


def paths_for(arms: int, most: int) -> int:
    """How many paths to follow: `most`, or fewer where there are many arms, so that a plan stays quick."""
    return max(32, min(most, 2560 // arms))


class Paths(NamedTuple):
    """Predicted runs: a row per step, a column per path."""

    people: Array
    """How many had answered."""
    regret: Array
    """What that had cost by then."""

    def at(self, people: float | Counts) -> Array:
        """The regret after so many people, path by path; a path that ends earlier costs nothing more."""
        columns = range(self.people.shape[1])
        return np.array([np.interp(people, self.people[:, i], self.regret[:, i]) for i in columns])

    @property
    def answered(self) -> Array:
        """How many people answered until the end, for each path."""
        return self.people[-1]


class Recorder:
    """Collects the steps of paths."""

    def __init__(self, paths: int) -> None:
        self.people: list[Array] = [np.zeros(paths)]
        self.regret: list[Array] = [np.zeros(paths)]

    def note(self, people: Array | float, regret: Array) -> None:
        self.people.append(np.broadcast_to(np.asarray(people, dtype=float), regret.shape).copy())
        self.regret.append(regret.copy())

    def paths(self) -> Paths:
        return Paths(np.array(self.people), np.array(self.regret))


class Signal:
    """Sums of estimates of Bernoulli losses, as a task's mechanism gives them: exact for levels, else normal.

    Importance weights magnify tails, so a bounded report must stay bounded.
    """

    def __init__(self, task: Task, losses: Array) -> None:
        mechanism = mechanism_of(task)
        self.noise: Noise = noise_of(mechanism)
        self.losses = losses
        self.reach = self.noise.bound
        self.second = second_moment(mechanism, self.noise, 1.0) / 4
        self.deviation = np.sqrt(self.second - (losses - 0.5) ** 2)
        self.law = _law(mechanism, losses)
        """For levels: the chance of each level, a row per arm."""

    def sums(self, counts: Counts, generator: np.random.Generator) -> Array:
        """The sum of `counts` estimates of every arm."""
        levels = self.law.shape[1]
        if levels == 0:
            return counts * self.losses + np.sqrt(counts) * self.deviation * generator.standard_normal(counts.shape)
        return self.heard(counts, generator) @ (0.5 + self.reach * np.linspace(-1.0, 1.0, levels))

    def heard(self, counts: Counts, generator: np.random.Generator) -> Counts:
        """How often each level was reported, of `counts` reports of every arm."""
        if self.law.shape[1] == 2:
            high = generator.binomial(counts, self.law[:, 1])
            return np.stack([counts - high, high], axis=2)
        return generator.multinomial(counts, self.law)


def second_moment(mechanism: Mechanism, noise: Noise, message: float) -> float:
    """Of an estimate around the middle of its range, in units of half of it, for a message in [-1, 1]."""
    unit = getattr(mechanism.domain, "half", 1.0)
    if not isinstance(mechanism, Levels):
        return message**2 + noise.variance / unit**2
    places = np.linspace(-1.0, 1.0, mechanism.levels)
    step = places[1] - places[0]
    rounded = np.maximum(0.0, 1 - np.abs(places - message) / step)
    law = (rounded * (mechanism.keep - mechanism.flip) + mechanism.flip) / mechanism.total
    return float(law @ places**2) * mechanism.reach**2


def _law(mechanism: object, losses: Array) -> Array:
    if not isinstance(mechanism, Levels):
        return np.zeros((len(losses), 0))
    high = _extreme(mechanism)
    return losses[:, None] * high + (1 - losses[:, None]) * high[::-1]


def _extreme(mechanism: Levels) -> Array:
    """The chance of each level when the truth is the highest."""
    weights = np.full(mechanism.levels, float(mechanism.flip))
    weights[-1] = float(mechanism.keep)
    return weights / math.fsum(weights)
