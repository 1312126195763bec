"""Run a row: its sizes and epsilons, both presets, no privacy and random play."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.task import Task, task
from sottovoce.lab.table1.fit import Exponent, exponent
from sottovoce.lab.table1.rows import EPSILONS, ROWS, Row
from sottovoce.learners import uniform_of
from sottovoce.sim.halves import halves
from sottovoce.sim.run import simulate
from sottovoce.sim.trace import Trace
from sottovoce.sim.worlds import world_of

CHUNK = 10_000
"""Rounds between two checkpoints: one length for all horizons, so a loop is compiled once for a row."""
SLACK = 0.05
"""How far above the theorem the upper end of an exponent may be."""
SHARE = 0.5
"""How much of the regret of random play may be left at the largest size."""


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
    random_play: NDArray[np.float64]
    """The mean regret of random play in every run."""
    reference: NDArray[np.float64] | None = None
    """The measured values without privacy; none against epsilon."""


class Measured(NamedTuple):
    """One exponent of one preset, with the points it was fitted to."""

    row: Row
    preset: str
    axis: Axis
    values: NDArray[np.float64]
    """Regret or samples: a row per size, a column per seed."""
    fitted: Exponent
    nonprivate: Exponent | None
    regret_share: float
    """The regret of the last run over that of random play."""

    @property
    def epsilon(self) -> float:
        return self.axis.runs[-1][1]

    @property
    def shown(self) -> bool:
        """Does the measurement show the theorem's exponent, by a learner that learns?"""
        return self.fitted.high <= self.axis.theorem + SLACK and self.regret_share <= SHARE

    def as_row(self) -> dict[str, Any]:
        """One row of the stable JSON contract."""
        return {
            "row": self.row.name,
            "preset": self.preset,
            "quantity": self.axis.quantity,
            "exponent": self.fitted.value,
            "exponent_low": self.fitted.low,
            "exponent_high": self.fitted.high,
            "theorem": self.axis.theorem,
            "nonprivate": None if self.nonprivate is None else self.nonprivate.value,
            "epsilon": self.epsilon,
            "regret_share": self.regret_share,
            "learner": self.row.learner,
            "sizes": self.axis.sizes.tolist(),
            "means": self.values.mean(axis=1).tolist(),
            "shown": self.shown,
        }


def measure(*, quick: bool, progress: Callable[[str], None]) -> Iterator[Measured]:
    """Every row of the table in its order, measured by as many processes as there are cores.

    Processes, not threads: half of the work is compiling, and loops that call LAPACK must not share a process.
    """
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(measure_row, row, quick) for row in ROWS]
        for row, job in zip(ROWS, jobs, strict=True):
            measured = job.result()
            progress(row.title)
            yield from measured


def measure_row(row: Row, quick: bool) -> list[Measured]:
    """Both presets of a row, against rounds (or the gap) and against epsilon."""
    if quick:
        row = msgspec.structs.replace(row, horizons=row.horizons[:3], gaps=row.gaps[:3], seeds=row.seeds // 2)
    axes = _axes(row)
    return [_measured(row, preset, axis) for preset in row.presets for axis in axes]


def _axes(row: Row) -> tuple[Axis, Axis]:
    first, sizes, epsilons = row.sizes[0], np.array(row.sizes, float), np.array(EPSILONS)
    by_size = Axis(
        quantity="gap" if row.gaps else "rounds",
        runs=[(size, row.epsilon) for size in row.sizes],
        sizes=1 / sizes if row.gaps else sizes,
        theorem=float(row.power),
        held=f"at epsilon {row.epsilon:g}",
        factors=np.array([row.factor(size) for size in row.sizes]),
        factor=row.factor_text,
        random_play=np.array([_random_play(row, size) for size in row.sizes]),
    )
    by_epsilon = Axis(
        quantity="epsilon",
        runs=[(first, epsilon) for epsilon in EPSILONS],
        sizes=1 / epsilons,
        theorem=float(row.epsilon_power),
        held=f"at gap {first:g}" if row.gaps else f"after {first:,} people",
        factors=np.ones(len(EPSILONS)),
        factor="",
        random_play=np.full(len(EPSILONS), by_size.random_play[0]),
    )
    reference, _ = _runs(row, "practical", by_size, private=False)
    return by_size._replace(reference=reference), by_epsilon


def _measured(row: Row, preset: str, axis: Axis) -> Measured:
    values, regret = _runs(row, preset, axis)
    fitted = exponent(axis.sizes, values, axis.factors)
    nonprivate = None if axis.reference is None else exponent(axis.sizes, axis.reference, axis.factors)
    share = float(regret / axis.random_play[-1])
    return Measured(row, preset, axis, values, fitted, nonprivate, share)


def _runs(row: Row, preset: str, axis: Axis, *, private: bool = True) -> tuple[NDArray[np.float64], float]:
    """What every seed of every run gave, and the mean regret of the last run."""
    values, regret = [], 0.0
    for size, epsilon in axis.runs:
        learner, user, mechanism = halves(_task(row, preset, size, epsilon), private=private)
        trace = _simulate(row, size, learner, user, mechanism, _rounds(row, size))
        values.append(trace.samples if row.gaps else trace.regret[:, -1])
        regret = trace.regret[:, -1].mean()  # of a best arm: once stopped, the answer is served
    return np.stack(values), regret


def _random_play(row: Row, size: float) -> float:
    """The mean regret of random play; every round is alike, so the first chunk tells it (adversarial worlds: all)."""
    rounds = _rounds(row, size)
    if row.gaps:
        return size * (1 - 1 / row.shape["arms"]) * rounds
    asked = _task(row, "practical", size, row.epsilon)
    played = rounds if row.world == "switching-arms" else min(rounds, CHUNK)
    regret = _simulate(row, size, uniform_of(asked), halves(asked).user, None, played).regret[:, -1].mean()
    return float(regret) * rounds / played


def _rounds(row: Row, size: float) -> int:
    return row.horizons[-1] if row.gaps else int(size)


def _task(row: Row, preset: str, size: float, epsilon: float) -> Task:
    known = algorithm_of(row.learner).presets[preset]["tuning"]
    tuning = {name: value for name, value in row.tuning.items() if name in known}
    return task(row.learner, preset, rounds=_rounds(row, size), epsilon=epsilon, **row.shape, **tuning)


def _simulate(row: Row, size: float, learner: Any, user: Any, mechanism: Any, rounds: int) -> Trace:
    options: dict[str, Any] = {**row.shape, **row.options, **({"gap": size} if row.gaps else {})}
    numbers: dict[str, Any] = {"seeds": row.seeds, "seed": row.seed, "checkpoints": max(rounds // CHUNK, 1)}
    trace = simulate(learner, user, world_of(row.world, **options), rounds=rounds, mechanism=mechanism, **numbers)
    if not trace.finite:
        raise ArithmeticError(f"{row.name} left the real numbers; please report this with the command you typed")
    return trace
