"""Run a row: horizons and epsilons, both presets, no privacy and random play."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.task import Task, algorithm_of, task
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
    return _measure_row(ROWS[number], quick) if number < len(ROWS) else _measure_best_arm(BEST_ARM, quick)


def _measure_row(row: Row, quick: bool) -> list[Measured]:
    horizons = row.horizons[: 3 if quick else None]
    seeds = row.seeds // 2 if quick else row.seeds
    silent = _runs(row, "practical", [(rounds, row.epsilon) for rounds in horizons], seeds, private=False)
    chance = [_chance(row, rounds, seeds) for rounds in horizons]
    sizes, factors = np.array(horizons, float), np.array([row.logarithm(rounds) for rounds in horizons])
    plain = exponent(sizes, silent, factors)
    measured = []
    for preset in PRESETS:
        regret = _runs(row, preset, [(rounds, row.epsilon) for rounds in horizons], seeds)
        by_epsilon = _runs(row, preset, [(horizons[0], epsilon) for epsilon in EPSILONS], seeds)
        common = {"row": row.name, "title": row.title, "learner": row.learner, "preset": preset, "why": row.why}
        measured.append(
            Measured(
                **common,
                quantity="rounds",
                fitted=exponent(sizes, regret, factors),
                theorem=row.rounds_power,
                nonprivate=plain,
                epsilon=row.epsilon,
                regret_share=float(regret[-1].mean() / chance[-1]),
                sizes=sizes,
                values=regret,
                reference=silent,
                chance=np.array(chance),
                factors=factors,
                logarithm=row.logarithm_text,
                held=f"at epsilon {row.epsilon:g}",
            )
        )
        inverse, ones = 1 / np.array(EPSILONS), np.ones(len(EPSILONS))
        measured.append(
            Measured(
                **common,
                quantity="epsilon",
                fitted=exponent(inverse, by_epsilon, ones),
                theorem=row.epsilon_power,
                nonprivate=None,
                epsilon=max(EPSILONS),
                regret_share=float(by_epsilon[-1].mean() / chance[0]),
                sizes=inverse,
                values=by_epsilon,
                reference=np.zeros((0, seeds)),
                chance=np.full(len(EPSILONS), chance[0]),
                factors=ones,
                logarithm="1",
                held=f"after {horizons[0]:,} people",
            )
        )
    return measured


def _runs(
    row: Row, preset: str, runs: list[tuple[int, float]], seeds: int, *, private: bool = True
) -> NDArray[np.float64]:
    """The last regret of every seed, for each (horizon, epsilon)."""
    return np.stack([_run(row, preset, rounds, epsilon, seeds, private) for rounds, epsilon in runs])


def _run(row: Row, preset: str, rounds: int, epsilon: float, seeds: int, private: bool) -> NDArray[np.float64]:
    contract = _contract(row, preset, rounds, epsilon)
    learner, user, mechanism = halves(contract, private=private)
    return _simulate(row, learner, user, mechanism, rounds, seeds).regret[:, -1]


def _chance(row: Row, rounds: int, seeds: int) -> float:
    """The mean regret of random play; every round is alike, so the first chunk tells it (adversarial worlds: all)."""
    contract = _contract(row, "practical", rounds, row.epsilon)
    played = rounds if row.world == "switching-arms" else min(rounds, CHUNK)
    regret = _simulate(row, uniform_of(contract), halves(contract).user, None, played, seeds).regret[:, -1].mean()
    return float(regret) * rounds / played


def _contract(row: Row, preset: str, rounds: int, epsilon: float) -> Task:
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


def _measure_best_arm(row: BestArmRow, quick: bool) -> list[Measured]:
    seeds = row.seeds // 2 if quick else row.seeds
    gaps = row.gaps[: 3 if quick else None]
    silent = np.stack([_samples(row, "practical", row.epsilon, gap, seeds, private=False)[0] for gap in gaps])
    doubly = np.array([np.log(np.log(1 / gap**2 + np.e) / 0.05) for gap in gaps])
    inverse_gaps, inverse_epsilons = 1 / np.array(gaps), 1 / np.array(EPSILONS)
    measured = []
    for preset in ("practical", "paper-heuristic"):
        by_gap = [_samples(row, preset, row.epsilon, gap, seeds) for gap in gaps]
        by_epsilon = [_samples(row, preset, epsilon, row.gap, seeds) for epsilon in EPSILONS]
        common = {"row": row.name, "title": row.title, "learner": row.learner, "why": row.why, "theorem": row.power}
        common["preset"] = preset.removesuffix("-heuristic")
        measured.append(
            Measured(
                **common,
                quantity="gap",
                fitted=exponent(inverse_gaps, np.stack([samples for samples, _ in by_gap]), doubly),
                nonprivate=exponent(inverse_gaps, silent, doubly),
                epsilon=row.epsilon,
                regret_share=by_gap[-1][1],
                sizes=inverse_gaps,
                values=np.stack([samples for samples, _ in by_gap]),
                reference=silent,
                chance=np.zeros(0),
                factors=doubly,
                logarithm="ln(ln(1/gap^2)/0.05)",
                held=f"at epsilon {row.epsilon:g}",
            )
        )
        measured.append(
            Measured(
                **common,
                quantity="epsilon",
                fitted=exponent(inverse_epsilons, np.stack([s for s, _ in by_epsilon]), np.ones(len(EPSILONS))),
                nonprivate=None,
                epsilon=max(EPSILONS),
                regret_share=by_epsilon[-1][1],
                sizes=inverse_epsilons,
                values=np.stack([samples for samples, _ in by_epsilon]),
                reference=np.zeros((0, seeds)),
                chance=np.zeros(0),
                factors=np.ones(len(EPSILONS)),
                logarithm="1",
                held=f"at gap {row.gap:g}",
            )
        )
    return measured


def _samples(
    row: BestArmRow, preset: str, epsilon: float, gap: float, seeds: int, *, private: bool = True
) -> tuple[NDArray[np.float64], float]:
    """Samples of every seed, and the regret over that of random play: once stopped, the answer is served."""
    contract = task(row.learner, preset, arms=row.arms, rounds=row.rounds, epsilon=epsilon)
    learner, user, mechanism = halves(contract, private=private)
    world = world_of("arms", arms=row.arms, gap=gap)
    trace = simulate(
        learner, user, world, rounds=row.rounds, mechanism=mechanism, seeds=seeds, checkpoints=row.rounds // CHUNK
    )
    random_play = gap * (1 - 1 / row.arms) * row.rounds
    return trace.samples, float(trace.regret[:, -1].mean() / random_play)
