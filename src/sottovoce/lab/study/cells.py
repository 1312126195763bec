"""The curves of a study: a learner in some worlds at some budgets; beside it as published, no privacy, uniform play."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.task import Task
from sottovoce.engine.pytrees import shape_of
from sottovoce.lab.study.file import Study, task_of, worlds_of
from sottovoce.learners import uniform_of
from sottovoce.privacy.mechanisms import LARGEST_EPSILON
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.report.confidence import clopper_pearson, student_quantile
from sottovoce.sim.batch import Progress
from sottovoce.sim.gates import channel_of
from sottovoce.sim.halves import halves
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.sim.trace import Trace
from sottovoce.sim.worlds import World
from sottovoce.sim.worlds.base import notice_of


class Cell(NamedTuple):
    """One curve of a study."""

    role: str
    """chosen, paper, published (for what the paper does not contain), non-private or uniform"""
    world_name: str
    world: World
    task: Task
    """For non-private and uniform play: the task whose setting they share."""

    @property
    def private(self) -> bool:
        return self.role in ("chosen", "paper", "published")

    @property
    def reports(self) -> bool:
        """Do private reports travel? Not where a curator sees everything."""
        return self.private and self.task.mechanism != "none"

    @property
    def name(self) -> str:
        budget = f"-epsilon-{self.task.epsilon:g}" if self.private else ""
        return f"{self.world_name}-{self.role}{budget}"

    @property
    def who(self) -> str:
        """Who played, in words: a preset, the same learner without privacy, or uniform play."""
        return {"uniform": "uniform play", "non-private": "no privacy"}.get(self.role, self.task.preset)

    @property
    def promise(self) -> str:
        """What was promised to each person."""
        return str(self.task.budget) if self.private else "none"

    @property
    def label(self) -> str:
        return f"{self.who}, {self.promise}" if self.private else self.who


class CellResult(NamedTuple):
    """What one cell gave."""

    cell: Cell
    rounds: NDArray[np.int64]
    regret: NDArray[np.float64]
    """A row per seed, a column per checkpoint."""
    seconds: float
    samples: NDArray[np.float64]
    """How many people answered, for each seed."""
    stopped: NDArray[np.bool_]
    """Whether the learner was done in the end."""
    correct: NDArray[np.bool_] | None = None
    """Whether the best arm (or set) was recommended, where the learner is one that stops."""

    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Mean and 95 % interval (Student's t over seeds) at every checkpoint; without spread for a single seed."""
        mean, half = self.regret.mean(axis=0), half_interval(self.regret)
        return mean, mean - half, mean + half

    def last(self) -> tuple[float, float, float]:
        """Mean and interval at the end."""
        mean, low, high = (float(series[-1]) for series in self.interval())
        return mean, low, high

    def lift_over(self, other: "CellResult") -> tuple[float, float, float]:
        """Reward that a person got more than under `other`: mean and 95 % interval; equal seeds meet equal people."""
        more = (other.regret[:, -1] - self.regret[:, -1]) / self.rounds[-1]
        mean, half = float(more.mean()), float(half_interval(more))
        return mean, mean - half, mean + half

    def right(self) -> tuple[float, float, float]:
        """The share of seeds with the right answer and its 95 % interval (Clopper-Pearson)."""
        if self.correct is None:
            raise ConfigurationError(f"{self.cell.name} recommends nothing")
        hits, seeds = int(self.correct.sum()), len(self.correct)
        return hits / seeds, *clopper_pearson(hits, seeds, 0.025)

    def growth(self) -> float:
        """The exponent of the regret over the second half of the run: 1 is linear, less is learning."""
        mean = self.regret.mean(axis=0)
        half = int(np.searchsorted(self.rounds, self.rounds[-1] / 2))
        if mean[half] <= 0 or mean[-1] <= 0 or half == len(mean) - 1:
            return float("nan")
        return float(np.log(mean[-1] / mean[half]) / np.log(self.rounds[-1] / self.rounds[half]))


def half_interval(runs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half of the 95 % interval of a mean (Student's t over runs, the first axis); 0 for a single run.

    >>> round(float(half_interval(np.array([1.0, 2.0, 3.0]))), 2)
    2.48
    """
    if len(runs) == 1:
        return np.zeros(runs.shape[1:])
    return student_quantile(0.975, len(runs) - 1) * runs.std(axis=0, ddof=1) / np.sqrt(len(runs))


def cells_of(study: Study, worlds: Mapping[str, World] | None = None) -> list[Cell]:
    """Every curve of the study, in worlds that are built here unless given; refuses what cannot be run.

    >>> study = Study(learner="tsallis-inf", arms=3, epsilon=[1.0], rounds=10)
    >>> [cell.name for cell in cells_of(study)]
    ['arms-chosen-epsilon-1', 'arms-paper-epsilon-1', 'arms-non-private', 'arms-uniform']
    """
    places = worlds_of(study) if worlds is None else worlds
    roles = _tasks_by_role(study)
    return [Cell(role, name, world, task) for name, world in places.items() for role, task in roles]


def _tasks_by_role(study: Study) -> list[tuple[str, Task]]:
    chosen = [("chosen", task_of(study, study.preset, epsilon)) for epsilon in study.epsilon]
    algorithm, printed, first = algorithm_of(study.learner), [], chosen[0][1]
    if (name := algorithm.published) and name != study.preset:
        role = "paper" if name == "paper" else "published"
        printed = [(role, task_of(study, name, epsilon)) for epsilon in study.epsilon]
    plain = [("non-private", first)] if algorithm.trust == "local" else []
    return [*chosen, *printed, *plain, ("uniform", first)]


def notices_of(cells: Sequence[Cell]) -> list[str]:
    """What must be said: whose data the worlds are made of, and which budgets devices refuse.

    >>> notices_of(cells_of(Study(learner="kl-ucb", arms=3, epsilon=[1.0, 20.0], rounds=10)))
    ['Epsilon 20 is simulated only: devices refuse a report above epsilon 12.']
    """
    worlds = {cell.world_name: cell.world for cell in cells}
    notices = [notice for world in worlds.values() if (notice := notice_of(world))]
    refused = sorted({cell.task.epsilon for cell in cells if cell.reports and cell.task.epsilon > LARGEST_EPSILON})
    if refused:
        budgets = ", ".join(f"{epsilon:g}" for epsilon in refused)
        limit = f"devices refuse a report above epsilon {LARGEST_EPSILON:g}"
        notices.append(f"Epsilon {budgets} is simulated only: {limit}.")
    return notices


def run_cells(study: Study, cells: Sequence[Cell], progress: Progress | None = None) -> Iterator[CellResult]:
    """Run the cells, those of one world and shape as one batch."""
    batches: dict[Any, list[tuple[Cell, Case]]] = {}
    for cell in cells:
        case, task = case_of(cell), cell.task
        key = (cell.world_name, task.user, str(task.domain), shape_of((case.learner, channel_of(case.mechanism))))
        batches.setdefault(key, []).append((cell, case))
    for batch in batches.values():
        yield from _run_batch(study, batch, progress)


def _run_batch(study: Study, batch: list[tuple[Cell, Case]], progress: Progress | None) -> Iterator[CellResult]:
    first = batch[0][0]
    start = time.perf_counter()
    traces = simulate_grid(
        [case for _, case in batch],
        halves(first.task).user,
        first.world,
        rounds=study.rounds,
        seeds=study.seeds,
        seed=study.seed,
        publish_every=study.publish_every,
        delay=study.delay,
        progress=lambda rounds: progress(rounds * len(batch)) if progress else None,
    )
    seconds = (time.perf_counter() - start) / len(batch)
    for (cell, _), trace in zip(batch, traces, strict=True):
        refuse_infinite(cell, trace)
        yield CellResult(cell, trace.rounds, trace.regret, seconds, trace.samples, trace.stopped, trace.correct)


def refuse_infinite(cell: Cell, trace: Trace) -> None:
    if not trace.finite:
        raise ArithmeticError(f"{cell.name} left the real numbers; please report this with the command you typed")


def case_of(cell: Cell) -> Case:
    """What plays in this cell."""
    if cell.role == "uniform":
        return Case(uniform_of(cell.task), None)
    learner, _, mechanism = halves(cell.task, private=cell.private)
    return Case(learner, mechanism)
