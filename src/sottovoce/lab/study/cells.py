"""A study: one learner in some worlds at some budgets, next to the paper, to no privacy and to uniform play."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.task import Task, algorithm_of, needs_delta, task
from sottovoce.engine.pytrees import shape_of
from sottovoce.lab.study.file import Study, load_study
from sottovoce.learners import uniform_of
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.report.confidence import clopper_pearson, student_quantile
from sottovoce.sim.batch import Progress
from sottovoce.sim.channels import channel_of
from sottovoce.sim.halves import halves
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.sim.worlds import World, actions_of, world_of
from sottovoce.sim.worlds.base import notice_of

__all__ = ["Cell", "Curve", "Study", "cells_of", "load_study", "run_cells"]


class Cell(NamedTuple):
    """One curve of a study."""

    role: str
    """chosen, paper, non-private or uniform"""
    world: str
    task: Task
    """For non-private and uniform play: the task whose setting they share."""

    @property
    def private(self) -> bool:
        return self.role in ("chosen", "paper")

    @property
    def reports(self) -> bool:
        """Do private reports travel? Not where a curator hears everything."""
        return self.private and self.task.mechanism != "none"

    @property
    def name(self) -> str:
        budget = f"-epsilon-{self.task.epsilon:g}" if self.private else ""
        return f"{self.world}-{self.role}{budget}"


class Curve(NamedTuple):
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
        mean, seeds = self.regret.mean(axis=0), len(self.regret)
        if seeds == 1:
            return mean, mean, mean
        half = student_quantile(0.975, seeds - 1) * self.regret.std(axis=0, ddof=1) / np.sqrt(seeds)
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


def cells_of(study: Study) -> list[Cell]:
    """Every curve of the study; refuses what cannot be run.

    >>> study = Study(learner="tsallis-inf", arms=3, epsilon=[1.0], rounds=10)
    >>> [cell.name for cell in cells_of(study)]
    ['arms-chosen-epsilon-1', 'arms-paper-epsilon-1', 'arms-non-private', 'arms-uniform']
    """
    if not study.epsilon:
        raise ConfigurationError("give at least one epsilon")
    cells = []
    for world in study.worlds:
        _check_world(study, world)
        chosen = [_task(study, study.preset, epsilon) for epsilon in study.epsilon]
        cells += [Cell("chosen", world, contract) for contract in chosen]
        if study.preset != "paper" and "paper" in algorithm_of(study.learner).presets:
            cells += [Cell("paper", world, _task(study, "paper", epsilon)) for epsilon in study.epsilon]
        if algorithm_of(study.learner).trust == "local":
            cells.append(Cell("non-private", world, chosen[0]))
        cells.append(Cell("uniform", world, chosen[0]))
    return cells


def notices_of(study: Study) -> list[str]:
    """What must be said of the data in this study's worlds.

    >>> notices_of(Study(learner="kl-ucb", arms=3, epsilon=[1.0], rounds=10))
    []
    """
    worlds = [_world(study, name) for name in study.worlds]
    return [notice for world in worlds if (notice := notice_of(world))]


def run_cells(study: Study, cells: list[Cell], progress: Progress | None = None) -> Iterator[Curve]:
    """Run the cells, those of one world and shape as one batch."""
    batches: dict[Any, list[tuple[Cell, Case]]] = {}
    for cell in cells:
        case = _case(cell)
        key = (cell.world, cell.task.user, str(cell.task.domain), shape_of((case.learner, channel_of(case.mechanism))))
        batches.setdefault(key, []).append((cell, case))
    for batch in batches.values():
        yield from _run_batch(study, batch, progress)


def _run_batch(study: Study, batch: list[tuple[Cell, Case]], progress: Progress | None) -> list[Curve]:
    first = batch[0][0]
    start = time.perf_counter()
    traces = simulate_grid(
        [case for _, case in batch],
        halves(first.task).user,
        _world(study, first.world),
        rounds=study.rounds,
        seeds=study.seeds,
        seed=study.seed,
        publish_every=study.publish_every,
        delay=study.delay,
        progress=lambda rounds: progress(rounds * len(batch)) if progress else None,
    )
    seconds = (time.perf_counter() - start) / len(batch)
    for (cell, _), trace in zip(batch, traces, strict=True):
        if not trace.finite:
            raise ArithmeticError(f"{cell.name} left the real numbers; please report this with the command you typed")
    return [
        Curve(cell, trace.rounds, trace.regret, seconds, trace.samples, trace.stopped, trace.correct)
        for (cell, _), trace in zip(batch, traces, strict=True)
    ]


def _case(cell: Cell) -> Case:
    if cell.role == "uniform":
        return Case(uniform_of(cell.task), None)
    learner, _, mechanism = halves(cell.task, private=cell.private)
    return Case(learner, mechanism)


def _task(study: Study, preset: str, epsilon: float) -> Task:
    question = algorithm_of(study.learner).question
    tuning = {name: value for name, value in study.tuning.items() if preset == study.preset or name in question}
    used = preset in algorithm_of(study.learner).presets and needs_delta(study.learner, preset)
    return task(
        study.learner,
        preset,
        arms=study.arms,
        rounds=study.rounds,
        epsilon=epsilon,
        delta=study.delta if used else None,
        dimension=study.dimension,
        region=study.region,
        **tuning,
    )


def _check_world(study: Study, world: str) -> None:
    wanted, found = algorithm_of(study.learner).actions, actions_of(world)
    if wanted != found:
        raise ConfigurationError(f"{study.learner} chooses among {wanted}; world {world!r} offers {found}")
    _world(study, world)


def _world(study: Study, name: str) -> World:
    return world_of(name, arms=study.arms, dimension=study.dimension, region=study.region, **study.options)
