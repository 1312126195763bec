"""Run a row: its sizes and epsilons, its presets, its reference without privacy, and no learning."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.task import Task, task
from sottovoce.lab.table1.fit import SLACK, Exponent, exponent, growth, local_slopes
from sottovoce.lab.table1.idle import Middle
from sottovoce.lab.table1.rows import Row
from sottovoce.learners import uniform_of
from sottovoce.sim.batch import stay_on_one_core
from sottovoce.sim.halves import halves
from sottovoce.sim.run import simulate
from sottovoce.sim.trace import Trace
from sottovoce.sim.worlds import world_of

CHUNK = 10_000
"""Rounds between two checkpoints: one length for all horizons, so a loop is compiled once for a row."""
SHARE = 0.5
"""A point counts if at most so much of the regret of not learning is left."""
LEAST = 3
"""So many points make a fit."""


class Axis(NamedTuple):
    """What a row is measured against: rounds, gap or epsilon."""

    quantity: str
    runs: list[tuple[float, float]]
    """The horizon (or gap) and the epsilon of every run."""
    sizes: NDArray[np.float64]
    """Horizons, 1/gap or 1/epsilon."""
    theorem: float
    """The exponent that the theorem allows."""
    held: str
    """What stayed the same: at which epsilon, after how many people."""
    factors: NDArray[np.float64]
    """The theorem's logarithmic factor at every size, and in words."""
    factor: str
    idle: NDArray[np.float64]
    """The mean regret of not learning in every run."""


class Points(NamedTuple):
    """What one learner gave along an axis, and the fit through the points that count."""

    values: NDArray[np.float64]
    """Regret or samples: a row per size, a column per seed."""
    left: NDArray[np.float64]
    """Of the regret of not learning at every size; for the best arm the share of seeds that gave no answer."""
    kept: NDArray[np.bool_]
    """Which points count. Where nothing is learned a curve is flat whatever the theorem says."""
    fitted: Exponent | None
    """None where fewer than three points count."""
    slopes: NDArray[np.float64]
    """Between neighbouring points that count."""


class Measured(NamedTuple):
    """One preset of one row against one quantity."""

    row: Row
    preset: str
    axis: Axis
    points: Points
    reference: Points | None
    """The algorithm without privacy, beside the first preset against rounds or the gap."""

    @property
    def shown(self) -> bool:
        """Is the theorem's exponent an upper bound of what was measured, by a learner that learns?"""
        fitted = self.points.fitted
        return fitted is not None and fitted.high <= self.axis.theorem + SLACK

    @property
    def growth(self) -> str:
        """Slower than, as, or faster than the theorem; "too few" where fewer than three points count."""
        fitted = self.points.fitted
        return growth(fitted, self.axis.theorem) if fitted else "too few"

    def as_row(self) -> dict[str, Any]:
        """One row of the stable JSON contract."""
        fitted, reference = self.points.fitted, self.reference
        value, low, high = fitted or (None, None, None)
        return {
            "row": self.row.name,
            "preset": self.preset,
            "quantity": self.axis.quantity,
            "exponent": value,
            "exponent_low": low,
            "exponent_high": high,
            "local_slopes": self.points.slopes.tolist(),
            "theorem": self.axis.theorem,
            "growth": self.growth,
            "shown": self.shown,
            "learner": self.row.learner,
            "epsilons": [epsilon for _, epsilon in self.axis.runs],
            "sizes": self.axis.sizes.tolist(),
            "means": self.points.values.mean(axis=1).tolist(),
            "left": self.points.left.tolist(),
            "kept": self.points.kept.tolist(),
            "reference": self.row.reference.learner if reference else None,
            "reference_exponent": reference.fitted.value if reference and reference.fitted else None,
            "reference_left": reference.left.tolist() if reference else None,
        }


def measure(rows: Sequence[Row], *, progress: Callable[[str], None]) -> Iterator[Measured]:
    """The rows in their order, measured by as many processes as there are cores.

    Processes, not threads: half of the work is compiling, and loops that call LAPACK must not share a process.
    """
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn"), initializer=stay_on_one_core) as pool:
        jobs = [pool.submit(measure_row, row) for row in rows]
        for row, job in zip(rows, jobs, strict=True):
            measured = job.result()
            progress(row.title)
            yield from measured


def measure_row(row: Row) -> list[Measured]:
    """Every preset of a row, against rounds (or the gap) and against epsilon."""
    return [measured for preset in row.presets for measured in _measured(row, preset)]


def _measured(row: Row, preset: str) -> Iterator[Measured]:
    epsilon, epsilons = row.budgets(preset)
    by_size, by_epsilon = _by_size(row, epsilon), _by_epsilon(row, epsilons)
    beside, first = row.reference, preset == row.presets[0]
    reference = _points(row, beside.learner, beside.preset, by_size, private=False) if first else None
    yield Measured(row, preset, by_size, _points(row, row.learner, preset, by_size), reference)
    yield Measured(row, preset, by_epsilon, _points(row, row.learner, preset, by_epsilon), None)


def _by_size(row: Row, epsilon: float) -> Axis:
    sizes, runs = np.array(row.sizes, float), [(size, epsilon) for size in row.sizes]
    return Axis(
        quantity="gap" if row.gaps else "rounds",
        runs=runs,
        sizes=1 / sizes if row.gaps else sizes,
        theorem=float(row.power),
        held=f"at epsilon {epsilon:g}",
        factors=np.array([row.factor(size) for size in row.sizes]),
        factor=row.factor_text,
        idle=np.array([idle_regret(row, *run) for run in runs]),
    )


def _by_epsilon(row: Row, epsilons: tuple[float, ...]) -> Axis:
    held = row.epsilon_size
    runs = [(held, epsilon) for epsilon in epsilons]
    different = runs if "epsilon" in row.told else runs[:1]
    return Axis(
        quantity="epsilon",
        runs=runs,
        sizes=1 / np.array(epsilons),
        theorem=float(row.epsilon_power),
        held=f"at gap {held:g}" if row.gaps else f"after {held:,.0f} people",
        factors=np.ones(len(runs)),
        factor="",
        idle=np.resize([idle_regret(row, *run) for run in different], len(runs)),
    )


def _points(row: Row, learner: str, preset: str, axis: Axis, *, private: bool = True) -> Points:
    """Run a preset at every size; then the fit through the points that count."""
    traces = [run_row(row, learner, preset, size, epsilon, private=private) for size, epsilon in axis.runs]
    values = np.stack([trace.samples if row.gaps else trace.regret[:, -1] for trace in traces])
    unanswered = [1 - trace.stopped.mean() for trace in traces]
    left = np.array(unanswered) if row.gaps else values.mean(axis=1) / axis.idle
    return fit_points(axis, values, left, most=0.0 if row.gaps else SHARE)


def fit_points(axis: Axis, values: NDArray[np.float64], left: NDArray[np.float64], most: float) -> Points:
    """The fit through the points at which at most so much is left; none where fewer than three count."""
    kept = left <= most
    some = axis.sizes[kept], values[kept], axis.factors[kept]
    fitted = exponent(*some) if kept.sum() >= LEAST else None
    return Points(values, left, kept, fitted, local_slopes(*some))


def run_row(row: Row, learner: str, preset: str, size: float, epsilon: float, *, private: bool) -> Trace:
    both = halves(task_of(row, learner, preset, size, epsilon), private=private)
    return _simulate(row, size, epsilon, _rounds(row, size), *both)


def idle_regret(row: Row, size: float, epsilon: float) -> float:
    """The mean regret of not learning: of random play, or of staying in the middle, whichever costs less.

    Contexts come in growing phases, so there all rounds are played; elsewhere the first ones tell what all cost.
    """
    asked, rounds = task_of(row, row.learner, row.presets[0], size, epsilon), _rounds(row, size)
    played = rounds if algorithm_of(row.learner).actions == "features" else min(rounds, 3 * CHUNK)
    user, random = halves(asked).user, uniform_of(asked)
    plays = [random, Middle(uniform=random)] if algorithm_of(row.learner).actions == "points" else [random]
    regrets = [_simulate(row, size, epsilon, played, play, user, None).regret[:, -1].mean() for play in plays]
    return float(min(regrets)) * rounds / played


def _rounds(row: Row, size: float) -> int:
    return row.horizons[-1] if row.gaps else int(size)


def task_of(row: Row, learner: str, preset: str, size: float, epsilon: float) -> Task:
    known = algorithm_of(learner).presets[preset]["tuning"]
    tuning = {name: value for name, value in row.tuning.items() if name in known}
    return task(learner, preset, rounds=_rounds(row, size), epsilon=epsilon, **row.shape, **tuning)


def _simulate(row: Row, size: float, epsilon: float, rounds: int, learner: Any, user: Any, mechanism: Any) -> Trace:
    own = {"horizon": float(size), "epsilon": epsilon}
    options: dict[str, Any] = {**row.shape, **row.options, **({"gap": size} if row.gaps else {})}
    options |= {name: own[name] for name in row.told}
    world = world_of(row.world, **options)
    numbers: dict[str, Any] = {"seeds": row.seeds, "seed": row.seed, "checkpoints": max(rounds // CHUNK, 1)}
    trace = simulate(learner, user, world, rounds=rounds, mechanism=mechanism, **numbers)
    if not trace.finite:
        raise ArithmeticError(f"{row.name} left the real numbers; please report this with the command you typed")
    return trace
