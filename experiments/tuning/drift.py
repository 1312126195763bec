"""How the constants of `drift` were chosen, in the worlds of drift_worlds.py and contextual_worlds.py.

    python experiments/tuning/drift.py             everything, 8 seeds
    python experiments/tuning/drift.py --alarms    false alarms of scale-free where nothing changes, 16 seeds
    python experiments/tuning/drift.py --quick     a short look, to see that it works

Each constant is varied by itself. `sudden` is judged where the world switches and where it stays as it is, `slow` where
it drifts and where it stays; by the geometric mean of (regret + 100) in units of the best of its row.
"""

import argparse
import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from contextual_worlds import WORLDS
from drift_worlds import ARMS, CONTEXTUAL, Place

from sottovoce import halves, task
from sottovoce.learners.drift.contextual import LEVEL
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.sim.trace import Trace
from sottovoce.sim.worlds import world_of
from sottovoce.sim.worlds.base import World

SEED = 700
"""Other seeds than those of the judged worlds."""
LEARNERS = {"thompson": ("changing-arms", ARMS), "scale-free": ("changing-linear", CONTEXTUAL)}
CHOICES = {
    ("thompson", "sudden", "explore"): (0.0, 0.25, 0.5, 1.0, 2.0),
    ("thompson", "slow", "memory"): (0.5, 1.0, 2.0, 4.0, 8.0),
    ("scale-free", "sudden", "level"): (-2.0, -1.0, 0.0, 1.0, 2.0),
    ("scale-free", "sudden", "memory"): (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16),
    ("scale-free", "slow", "memory"): (1.0, 2.0, 4.0, 8.0, 16.0),
}
"""Memories of slow worlds are in units of the horizon to the power 2/3, those of sudden ones of the horizon."""


def traces(
    learner: str, drift: str, name: str, values: tuple, place: Place, world: World, rounds: int, seeds: int
) -> list[Trace]:
    """One for each value of the constant: the same visitors for all."""
    declared = task(learner, **place.shape, rounds=rounds, epsilon=place.epsilon, drift=drift)
    half = halves(declared)
    unit = rounds ** (1 if drift == "sudden" else 2 / 3) if name == "memory" else 1
    cases = [Case(replaced(half.learner, **{name: value * unit}), half.mechanism) for value in values]
    return simulate_grid(cases, half.user, world, rounds=rounds, seeds=seeds, seed=SEED, checkpoints=1)


def replaced(learner: Any, **numbers: float) -> Any:
    return dataclasses.replace(learner, **numbers)


def rows(learner: str, drift: str, name: str, quick: bool) -> Iterator[tuple[str, list[Trace]]]:
    world_name, places = LEARNERS[learner]
    values = CHOICES[learner, drift, name]
    for title, place in places.items():
        rounds, seeds = (1_000, 2) if quick else (place.rounds, 8)
        for motion in ("switching" if drift == "sudden" else "drifting", "fixed"):
            world = world_of(world_name, **place.shape, **place.options, motion=motion)
            yield f"{title}, {motion}", traces(learner, drift, name, values, place, world, rounds, seeds)


def constants(quick: bool) -> None:
    """A table for each constant: regret, and in brackets the alarms of a run."""
    for (learner, drift, name), values in CHOICES.items():
        print(f"\n{learner}, {drift}: {name}" + "".join(f"{value:12g}" for value in values))
        table = []
        for title, found in rows(learner, drift, name, quick):
            regrets = [trace.regret[:, -1].mean() for trace in found]
            alarms = [f" ({trace.state.alarms.mean():.1f})" if drift == "sudden" else "" for trace in found]
            cells = (f"{regret:,.0f}{alarm}" for regret, alarm in zip(regrets, alarms, strict=True))
            print(f"{title:30}" + "".join(f"{cell:>14}" for cell in cells), flush=True)
            table.append(regrets)
        share = np.array(table) + 100
        means = np.exp(np.log(share / share.min(axis=1, keepdims=True)).mean(axis=0))
        print(f"{'geometric mean of the ratios':30}" + "".join(f"{mean:14.2f}" for mean in means))


def alarms(quick: bool) -> None:
    """Runs with a false alarm, in the worlds of contextual_worlds.py."""
    rounds, seeds = (1_000, 2) if quick else (100_000, 16)
    print(f"runs of {seeds} with an alarm in {rounds:,} rounds without a change, at epsilon 1, 4, 8")
    total = 0
    for name, world in WORLDS.items():
        shape, found = {"arms": world.arms, "dimension": world.dimension}, []
        for epsilon in (1.0, 4.0, 8.0):
            place = Place(shape, epsilon, rounds, {})
            (trace,) = traces("scale-free", "sudden", "level", (LEVEL,), place, world, rounds, seeds)
            found.append(int(np.sum(trace.state.alarms > 0)))
        total += sum(found)
        print(f"{name:24}" + "".join(f"{count:6}" for count in found), flush=True)
    print(f"{total} of {3 * seeds * len(WORLDS)} runs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 rounds, 2 seeds")
    parser.add_argument("--alarms", action="store_true", help="only false alarms of scale-free")
    options = parser.parse_args()
    if not options.alarms:
        constants(options.quick)
    alarms(options.quick)


if __name__ == "__main__":
    main()
