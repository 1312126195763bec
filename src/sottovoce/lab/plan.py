"""A plan: what a task will cost and give, before anyone deploys it.

Noise, error and bytes are closed forms of the mechanism. Regret, people and samples come from a few runs of the real
learner in the simulator, so every learner, world, delay and rhythm of publication can be planned. `docs/plan.md`
compares plans with long simulations.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import jax
import msgspec
import numpy as np

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.lab.study.cells import Cell, CellResult, cells_of, notices_of, run_cells
from sottovoce.lab.study.file import Study
from sottovoce.privacy.noise import Noise
from sottovoce.privacy.special import bisect, normal_quantile
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.report.confidence import half_width
from sottovoce.sim.random import simulation_key
from sottovoce.sim.run import Progress
from sottovoce.sim.worlds import World

MOST_RUNS, FEWEST_RUNS = 32, 8
"""How often the learner is run: often enough for a mean within some 10 %, seldom enough for a few seconds."""

WORK = 1_000_000
"""Rounds of all runs together, where that leaves enough runs."""

LONGEST = 200_000
"""Rounds of one run. A longer task is followed so far; its learner is still tuned for the whole horizon."""

QUICK = 20_000
"""Rounds of one run where the plan is made while somebody waits for something else."""

CERTAINTY = 0.95
"""Of telling two arms apart."""

MOST_REPORTS = 1e12
"""Of one arm: smaller gaps are not looked for."""


class Plan(NamedTuple):
    """One row: a task, what a report says, and what to expect. None where there is no number."""

    learner: str
    preset: str
    world: str
    options: dict[str, Any]
    arms: int
    dimension: int
    epsilon: float
    delta: float
    rounds: int
    mechanism: str
    bytes: int
    """Of one report."""
    noise: float
    """Standard deviation of one number in one report, in its natural units: the largest block's."""
    error: float
    """Standard deviation of a mean after all reports, spread evenly over the arms where there are arms."""
    people_to_compare: int | None
    """Who must answer, spread evenly, until the best arm looks better than a given other one with 95 % certainty."""
    people_to_be_sure: int | None
    """Who must answer, spread evenly, until the ranges of the two best arms in `task show` lie apart: they hold at all
    times at once, so one may look every day."""
    runs: int
    """How often the learner was run."""
    followed: int
    """How many people came in each run: all of them, or the first `LONGEST`. What follows is about these."""
    uniform_regret: float | None = None
    predicted_regret: float | None = None
    regret_low: float | None = None
    """One run in twenty costs less."""
    regret_high: float | None = None
    """One run in twenty costs more."""
    people_needed: int | None = None
    """Who must answer until the learner has cost half as much as uniform play; None if more than were followed."""
    predicted_samples: float | None = None
    """Who answers until a learner that recommends an arm has stopped."""
    predicted_right: float | None = None
    """The share of runs in which such a learner was right."""
    note: str = ""
    """What limits this row."""


def plans_of(
    study: Study,
    worlds: Mapping[str, World] | None = None,
    progress: Progress | None = None,
    *,
    quick: bool = False,
) -> Iterator[Plan]:
    """A plan for every world and budget of a study.

    >>> (row,) = plans_of(Study(learner="ucb", arms=3, epsilon=[2.0], rounds=1000, options={"gap": 0.4}))
    >>> row.bytes, row.predicted_regret < row.uniform_regret
    (1, True)
    """
    if algorithm_of(study.learner).trust != "local":
        raise ConfigurationError(f"{study.learner} sees raw data; plan is for learners that do not")
    cells = [cell for cell in cells_of(study, worlds) if cell.role in ("chosen", "uniform")]
    results = list(run_cells(shortened(study, quick=quick), cells, progress))
    uniform = {result.cell.world_name: result for result in results if result.cell.role == "uniform"}
    for result in results:
        if result.cell.role == "chosen":
            yield plan_of(study, result, uniform[result.cell.world_name])


def shortened(study: Study, *, quick: bool = False) -> Study:
    """The runs that a plan makes of a study; `quick` makes few and short ones.

    >>> study = shortened(Study(learner="ucb", arms=3, epsilon=[2.0], rounds=1_000_000))
    >>> study.rounds, study.seeds
    (200000, 8)
    """
    rounds = min(study.rounds, QUICK if quick else LONGEST)
    runs = FEWEST_RUNS if quick else min(max(WORK // max(rounds, 1), FEWEST_RUNS), MOST_RUNS)
    return msgspec.structs.replace(study, rounds=rounds, seeds=runs)


def plan_of(study: Study, chosen: CellResult, uniform: CellResult) -> Plan:
    """The plan of one learner at one budget, from its runs and those of uniform play."""
    cell, task = chosen.cell, chosen.cell.task
    mechanism = mechanism_of(task)
    noise, few_arms = mechanism.noise(), algorithm_of(task.learner).actions == "arms"
    deviation = max(noise.per_block)
    return Plan(
        learner=task.learner,
        preset=task.preset,
        world=cell.world_name,
        options=dict(study.options),
        arms=task.arms,
        dimension=task.dimension,
        epsilon=task.epsilon,
        delta=task.delta,
        rounds=task.rounds,
        mechanism=task.mechanism,
        bytes=mechanism.report_size,
        noise=deviation,
        error=deviation * math.sqrt((task.arms if few_arms else 1) / task.rounds),
        people_to_compare=_people_to_compare(cell, math.sqrt(0.25 + noise.variance)) if few_arms else None,
        people_to_be_sure=_people_to_be_sure(cell, noise) if few_arms else None,
        runs=len(chosen.regret),
        followed=int(chosen.rounds[-1]),
        **_answers(chosen) if chosen.correct is not None else _regrets(chosen, uniform),
        note=_note(chosen),
    )


def _regrets(chosen: CellResult, uniform: CellResult) -> dict[str, Any]:
    last = chosen.regret[:, -1]
    low, high = np.quantile(last, [0.05, 0.95])
    return {
        "uniform_regret": float(uniform.regret[:, -1].mean()),
        "predicted_regret": float(last.mean()),
        "regret_low": float(low),
        "regret_high": float(high),
        "people_needed": _people_needed(chosen, uniform),
    }


def _answers(chosen: CellResult) -> dict[str, Any]:
    """A learner that recommends an arm is judged by its answer and by how many people it had to ask."""
    return {"predicted_samples": float(chosen.samples.mean()), "predicted_right": chosen.right()[0]}


def _people_to_compare(cell: Cell, deviation: float) -> int | None:
    gap = _smallest_gap(cell)
    return math.ceil(2 * cell.task.arms * (normal_quantile(CERTAINTY) * deviation / gap) ** 2) if gap else None


def _people_to_be_sure(cell: Cell, noise: Noise) -> int | None:
    """None for Laplace noise, which is not sub-Gaussian: `task show` has no ranges then."""
    gap = _smallest_gap(cell)
    if gap is None or noise.tail:
        return None
    apart = lambda log: gap - 2 * half_width(math.exp(log), noise.proxy, 1 - CERTAINTY)  # noqa: E731
    return math.ceil(cell.task.arms * math.exp(bisect(apart, 0.0, math.log(MOST_REPORTS))))


def _smallest_gap(cell: Cell) -> float | None:
    world: Any = cell.world
    with jax.enable_x64(True):
        gaps = np.asarray(world.sample(simulation_key(0)).gaps)
    return float(gaps[gaps > 0].min()) if np.any(gaps > 0) else None


def _people_needed(chosen: CellResult, uniform: CellResult) -> int | None:
    """The checkpoint from which on the mean regret so far is at most half of uniform play's."""
    dear = np.flatnonzero(chosen.regret.mean(axis=0) > 0.5 * uniform.regret.mean(axis=0))
    first = dear[-1] + 1 if len(dear) else 0
    return int(chosen.rounds[first]) if first < len(chosen.rounds) else None


def _note(chosen: CellResult) -> str:
    task, followed = chosen.cell.task, int(chosen.rounds[-1])
    notes = notices_of([chosen.cell])
    if followed < task.rounds:
        notes.append(f"Regret, people and samples are of the first {followed:,} of {task.rounds:,} people.")
    return " ".join(notes)
