"""Regret of the algorithm boxes, seed by seed, beside the bounds of their theorems; in the worlds of Table 1."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np

from sottovoce.catalogue.task import Task
from sottovoce.lab.bounds import theorems
from sottovoce.lab.table1.measure import idle_regret, run_row, task_of
from sottovoce.lab.table1.rows import ROWS

ROUNDS = 100_000
SEEDS = 64


class Box(NamedTuple):
    """An algorithm box: its row of Table 1, its preset, and the bound of its theorem."""

    theorem: str
    row: str
    preset: str
    bound: Callable[[Task], float]
    epsilons: tuple[float, ...] = (1.0, 8.0)
    lower: bool = False
    """Is it a bound from below, in the worst world?"""


BOXES = (
    Box("3, convex", "one-point-convex", "paper", theorems.flaxman),
    Box("3, smooth", "one-point-smooth", "paper", theorems.saha_tewari),
    Box("3, strong", "one-point-strong", "paper", theorems.agarwal_dekel_xiao),
    Box("3, both", "one-point-both", "paper", theorems.hazan_levy),
    Box("6, convex", "two-point-convex", "paper", theorems.two_point),
    Box("6, strong", "two-point-strong", "paper", theorems.two_point_strong),
    Box("8, linear", "contextual-linear", "paper", theorems.linucb),
    Box("10, logistic", "contextual-glm-explicit", "explicit", theorems.glm),
    Box("11, adversary", "arms-adversarial", "paper", theorems.tsallis_adversarial),
    Box("11, chance", "arms-stochastic", "paper", lambda task: theorems.tsallis_stochastic(task, 0.4)),
    Box("11, below", "arms-adversarial", "practical", theorems.private_arms_at_least, (0.25, 1.0), lower=True),
)


class Beside(NamedTuple):
    """What one box lost, beside its bound."""

    box: Box
    learner: str
    epsilon: float
    median: float
    high: float
    """The 95 % quantile over seeds."""
    bound: float
    idle: float
    """What not learning loses."""

    @property
    def ratio(self) -> float:
        """The bound over the 95 % quantile; for a lower bound the median over it."""
        return self.median / self.bound if self.box.lower else self.bound / self.high

    @property
    def holds(self) -> bool:
        return self.ratio >= 1

    @property
    def vacuous(self) -> bool:
        """Does the bound allow more than not learning loses?"""
        return not self.box.lower and self.bound > self.idle

    def as_row(self) -> dict[str, Any]:
        """One row of the stable JSON contract."""
        return {
            "theorem": self.box.theorem,
            "learner": self.learner,
            "preset": self.box.preset,
            "epsilon": self.epsilon,
            "regret_median": self.median,
            "regret_95": self.high,
            "bound": self.bound,
            "ratio": self.ratio,
            "holds": self.holds,
            "idle": self.idle,
            "vacuous": self.vacuous,
        }


def measure(*, progress: Callable[[str], None]) -> Iterator[Beside]:
    """Every box at every epsilon."""
    for box in BOXES:
        for epsilon in box.epsilons:
            yield measure_box(box, epsilon, ROUNDS, SEEDS)
        progress(f"theorem {box.theorem}")


def measure_box(box: Box, epsilon: float, rounds: int, seeds: int) -> Beside:
    """One box at one epsilon, in the world of its row."""
    row = msgspec.structs.replace(next(row for row in ROWS if row.name == box.row), seeds=seeds, seed=1)
    regret = run_row(row, row.learner, box.preset, rounds, epsilon, private=True).regret[:, -1]
    median, high = np.quantile(regret, [0.5, 0.95])
    bound = box.bound(task_of(row, row.learner, box.preset, rounds, epsilon))
    return Beside(box, row.learner, epsilon, float(median), float(high), bound, idle_regret(row, rounds, epsilon))
