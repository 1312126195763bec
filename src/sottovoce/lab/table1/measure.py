"""Run a row: horizons and epsilons, both presets, no privacy and random play."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.task import Task, task
from sottovoce.lab.table1.fit import Exponent, exponent
from sottovoce.lab.table1.rows import BEST_ARM, EPSILONS, ROWS, BestArmRow, Row
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
"""How much of the regret of random play may be left at the largest horizon."""
PRESETS = ("practical", "paper")


class Measured(NamedTuple):
    """One exponent of one preset, with the points it was fitted to."""

    row: str
    title: str
    learner: str
    preset: str
    quantity: str
    """rounds, epsilon or gap"""
    fitted: Exponent
    theorem: float
    nonprivate: Exponent | None
    epsilon: float
    regret_share: float
    sizes: NDArray[np.float64]
    """Horizons, 1/epsilon or 1/gap."""
    values: NDArray[np.float64]
    """Regret or samples: a row per size, a column per seed."""
    reference: NDArray[np.float64]
    """The same without privacy (rounds and gap), else empty."""
    chance: NDArray[np.float64]
    """Mean regret of random play per size; empty for samples."""
    factors: NDArray[np.float64]
    """The theorem's logarithmic factor at every size."""
    logarithm: str
    why: str
    held: str
    """What stayed the same: at which epsilon, after how many people."""

    @property
    def shown(self) -> bool:
        """Does the measurement show the theorem's exponent, by a learner that learns?"""
        return self.fitted.high <= self.theorem + SLACK and self.regret_share <= SHARE

    def as_row(self) -> dict[str, Any]:
        """One row of the stable JSON contract."""
        return {
            "row": self.row,
            "preset": self.preset,
            "quantity": self.quantity,
            "exponent": self.fitted.value,
            "exponent_low": self.fitted.low,
            "exponent_high": self.fitted.high,
            "theorem": self.theorem,
            "nonprivate": None if self.nonprivate is None else self.nonprivate.value,
            "epsilon": self.epsilon,
            "regret_share": self.regret_share,
            "learner": self.learner,
            "sizes": [float(size) for size in self.sizes],
            "means": [float(value) for value in self.values.mean(axis=1)],
            "shown": self.shown,
        }


def measure(*, quick: bool, progress: Callable[[str], None] | None = None) -> Iterator[Measured]:
    """Every row of the table in its order, measured by as many processes as there are cores.

    Processes, not threads: half of the work is compiling, and loops that call LAPACK must not share a process.
    """
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(_measure_number, number, quick) for number in range(len(ROWS) + 1)]
        for row, job in zip([*ROWS, BEST_ARM], jobs, strict=True):
            measured = job.result()
            if progress:
                progress(row.title)
            yield from measured


def _measure_number(number: int, quick: bool) -> list[Measured]:
    """A row by its number: rows have functions inside, which do not travel to another process."""
    return measure_row(ROWS[number], quick) if number < len(ROWS) else measure_best_arm(BEST_ARM, quick)


class Points(NamedTuple):
    """What was measured against one quantity, for one preset."""

    quantity: str
    sizes: NDArray[np.float64]
    values: NDArray[np.float64]
    theorem: float
    epsilon: float
    share: float
    held: str
    factors: NDArray[np.float64]
    logarithm: str = "1"
    reference: NDArray[np.float64] | None = None
    chance: NDArray[np.float64] | None = None


def _measured(row: Row | BestArmRow, preset: str, points: Points) -> Measured:
    """The record of one fit."""
    sizes, values, factors, silent = points.sizes, points.values, points.factors, points.reference
    return Measured(
        row=row.name,
        title=row.title,
        learner=row.learner,
        preset=preset.removesuffix("-heuristic"),
        quantity=points.quantity,
        fitted=exponent(sizes, values, factors),
        theorem=points.theorem,
        nonprivate=None if silent is None else exponent(sizes, silent, factors),
        epsilon=points.epsilon,
        regret_share=points.share,
        sizes=sizes,
        values=values,
        reference=np.zeros((0, values.shape[1])) if silent is None else silent,
        chance=np.zeros(0) if points.chance is None else points.chance,
        factors=factors,
        logarithm=points.logarithm,
        why=row.why,
        held=points.held,
    )


# --- rows of regret --------------------------------------------------------------------------------------------------


def measure_row(row: Row, quick: bool) -> list[Measured]:
    """Both presets of a row, against rounds and against epsilon."""
    horizons = row.horizons[: 3 if quick else None]
    seeds = row.seeds // 2 if quick else row.seeds
    by_rounds = [(rounds, row.epsilon) for rounds in horizons]
    silent = _runs(row, "practical", by_rounds, seeds, private=False)
    chance = np.array([_chance(row, rounds, seeds) for rounds in horizons])
    measured = []
    for preset in PRESETS:
        regret = _runs(row, preset, by_rounds, seeds)
        against_rounds = Points(
            quantity="rounds",
            sizes=np.array(horizons, float),
            values=regret,
            theorem=row.rounds_power,
            epsilon=row.epsilon,
            share=float(regret[-1].mean() / chance[-1]),
            held=f"at epsilon {row.epsilon:g}",
            factors=np.array([row.logarithm(rounds) for rounds in horizons]),
            logarithm=row.logarithm_text,
            reference=silent,
            chance=chance,
        )
        regret = _runs(row, preset, [(horizons[0], epsilon) for epsilon in EPSILONS], seeds)
        share, held = float(regret[-1].mean() / chance[0]), f"after {horizons[0]:,} people"
        against_epsilon = _against_epsilon(regret, row.epsilon_power, share, held)
        against_epsilon = against_epsilon._replace(chance=np.full(len(EPSILONS), chance[0]))
        measured += [_measured(row, preset, points) for points in (against_rounds, against_epsilon)]
    return measured


def _against_epsilon(values: NDArray[np.float64], theorem: float, share: float, held: str) -> Points:
    ones = np.ones(len(EPSILONS))
    return Points("epsilon", 1 / np.array(EPSILONS), values, theorem, max(EPSILONS), share, held, ones)


def _runs(
    row: Row, preset: str, runs: list[tuple[int, float]], seeds: int, *, private: bool = True
) -> NDArray[np.float64]:
    """The last regret of every seed, for each (horizon, epsilon)."""
    return np.stack([_run(row, preset, rounds, epsilon, seeds, private) for rounds, epsilon in runs])


def _run(row: Row, preset: str, rounds: int, epsilon: float, seeds: int, private: bool) -> NDArray[np.float64]:
    learner, user, mechanism = halves(_task(row, preset, rounds, epsilon), private=private)
    return _simulate(row, learner, user, mechanism, rounds, seeds).regret[:, -1]


def _chance(row: Row, rounds: int, seeds: int) -> float:
    """The mean regret of random play; every round is alike, so the first chunk tells it (adversarial worlds: all)."""
    asked = _task(row, "practical", rounds, row.epsilon)
    played = rounds if row.world == "switching-arms" else min(rounds, CHUNK)
    regret = _simulate(row, uniform_of(asked), halves(asked).user, None, played, seeds).regret[:, -1].mean()
    return float(regret) * rounds / played


def _task(row: Row, preset: str, rounds: int, epsilon: float) -> Task:
    known = algorithm_of(row.learner).presets[preset]["tuning"]
    tuning = {name: value for name, value in row.tuning.items() if name in known}
    return task(row.learner, preset, rounds=rounds, epsilon=epsilon, **row.shape, **tuning)


def _simulate(row: Row, learner: Any, user: Any, mechanism: Any, rounds: int, seeds: int) -> Trace:
    world = world_of(row.world, **row.shape, **row.options)
    checkpoints = max(rounds // CHUNK, 1)
    trace = simulate(
        learner, user, world, rounds=rounds, mechanism=mechanism, seeds=seeds, seed=1, checkpoints=checkpoints
    )
    if not trace.finite:
        raise ArithmeticError(f"{row.name} left the real numbers; please report this with the command you typed")
    return trace


# --- the best arm ----------------------------------------------------------------------------------------------------


def measure_best_arm(row: BestArmRow, quick: bool) -> list[Measured]:
    """Both presets, against the gap and against epsilon."""
    seeds = row.seeds // 2 if quick else row.seeds
    gaps = row.gaps[: 3 if quick else None]
    silent = np.stack([_samples(row, "practical", row.epsilon, gap, seeds, private=False)[0] for gap in gaps])
    measured = []
    for preset in ("practical", "paper-heuristic"):
        samples, shares = zip(*(_samples(row, preset, row.epsilon, gap, seeds) for gap in gaps), strict=True)
        against_gap = Points(
            quantity="gap",
            sizes=1 / np.array(gaps),
            values=np.stack(samples),
            theorem=row.power,
            epsilon=row.epsilon,
            share=shares[-1],
            held=f"at epsilon {row.epsilon:g}",
            factors=np.array([np.log(np.log(1 / gap**2 + np.e) / 0.05) for gap in gaps]),
            logarithm="ln(ln(1/gap^2)/0.05)",
            reference=silent,
        )
        samples, shares = zip(*(_samples(row, preset, epsilon, row.gap, seeds) for epsilon in EPSILONS), strict=True)
        against_epsilon = _against_epsilon(np.stack(samples), row.power, shares[-1], f"at gap {row.gap:g}")
        measured += [_measured(row, preset, points) for points in (against_gap, against_epsilon)]
    return measured


def _samples(
    row: BestArmRow, preset: str, epsilon: float, gap: float, seeds: int, *, private: bool = True
) -> tuple[NDArray[np.float64], float]:
    """Samples of every seed, and the regret over that of random play: once stopped, the answer is served."""
    asked = task(row.learner, preset, arms=row.arms, rounds=row.rounds, epsilon=epsilon)
    learner, user, mechanism = halves(asked, private=private)
    world = world_of("arms", arms=row.arms, gap=gap)
    trace = simulate(
        learner, user, world, rounds=row.rounds, mechanism=mechanism, seeds=seeds, checkpoints=row.rounds // CHUNK
    )
    random_play = gap * (1 - 1 / row.arms) * row.rounds
    return trace.samples, float(trace.regret[:, -1].mean() / random_play)
