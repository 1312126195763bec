"""How `reach` and `pace` of the one-point presets were chosen: worlds that no published figure is made in.

    python experiments/tuning/convex.py LEARNER    all worlds, 30,000 rounds, 16 seeds
    python experiments/tuning/convex.py LEARNER --quick

The choice is judged by the geometric mean of the regret over the worlds.
"""

import argparse
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from sottovoce import halves, task
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.sim.worlds import world_of

CHOICES = list(product((0.5, 1.0, 2.0, 4.0), (0.5, 1.0, 2.0, 4.0)))
"""(reach, pace)"""


class Place(NamedTuple):
    dimension: int
    region: str
    motion: str
    depth: float
    epsilon: float


PLACES = [
    Place(3, "ball", "fixed", 0.7, 2.0),
    Place(5, "ball", "switching", 0.4, 4.0),
    Place(3, "box", "fixed", 0.6, 1.0),
    Place(4, "simplex", "fixed", 0.6, 2.0),
    Place(5, "box", "drifting", 0.8, 4.0),
]

CLASSES: dict[str, dict[str, Any]] = {
    "fkm": {"world": "absolute"},
    "agarwal-dekel-xiao": {"world": "quadratic", "kink": 0.5},
    "saha-tewari": {"world": "quadratic"},
    "hazan-levy": {"world": "quadratic"},
    "two-point": {"world": "absolute"},
    "two-point-strong": {"world": "quadratic", "kink": 0.5},
}
"""The least regular losses of each learner's class."""


def constants(learner: str, region: Any, kink: float) -> dict[str, float]:
    """What the losses of these worlds really are, in the units of the region."""
    diameter = 2 * float(region.outer)
    steepness = 1 / diameter if learner in ("fkm", "two-point") else (2 - kink) / diameter
    known = {"steepness": steepness, "strength": 2 * (1 - kink) / diameter**2, "smoothness": 2 / diameter**2}
    used = {
        "fkm": ["steepness"],
        "agarwal-dekel-xiao": ["steepness", "strength"],
        "saha-tewari": ["steepness", "smoothness"],
        "hazan-levy": ["steepness", "strength", "smoothness"],
        "two-point-strong": ["strength"],
    }
    return {name: known[name] for name in used.get(learner, [])}


def regrets(learner: str, place: Place, rounds: int, seeds: int) -> list[float]:
    """Mean regret of every choice in one world."""
    options = dict(CLASSES[learner])
    shape = {"dimension": place.dimension, "region": {"kind": place.region}}
    motion = {"motion": place.motion, "depth": place.depth}
    world = world_of(str(options.pop("world")), **shape, **motion, **options)
    numbers = constants(learner, world.region, float(options.get("kink", 0.0)))
    reaches = learner in ("fkm", "agarwal-dekel-xiao", "saha-tewari")
    pairs = [{"pace": pace} | ({"reach": reach} if reaches else {}) for reach, pace in CHOICES]
    run = [halves(task(learner, rounds=rounds, epsilon=place.epsilon, **shape, **numbers, **pair)) for pair in pairs]
    cases = [Case(learner, mechanism) for learner, _, mechanism in run]
    traces = simulate_grid(cases, run[0].user, world, rounds=rounds, seeds=seeds, checkpoints=10)
    return [float(trace.regret[:, -1].mean()) for trace in traces]


def main() -> None:
    """Print a row per world as it is done, then the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("learner", choices=sorted(CLASSES))
    parser.add_argument("--quick", action="store_true", help="3,000 rounds, 4 seeds")
    chosen = parser.parse_args()
    rounds, seeds = (3_000, 4) if chosen.quick else (30_000, 16)
    print(f"{chosen.learner}: regret after {rounds:,} rounds, mean of {seeds} seeds; columns are (reach, pace)")
    print(f"{'':44}" + "".join(f"{f'({r:g}, {p:g})':>11}" for r, p in CHOICES), flush=True)
    rows = []
    for place in PLACES:
        rows.append(regrets(chosen.learner, place, rounds, seeds))
        name = f"d {place.dimension} {place.region} {place.motion} {place.depth:g} epsilon {place.epsilon:g}"
        print(f"{name:44}" + "".join(f"{value:11,.0f}" for value in rows[-1]), flush=True)
    means = np.exp(np.log(np.maximum(rows, 1.0)).mean(axis=0))
    print(f"{'geometric mean':44}" + "".join(f"{value:11,.0f}" for value in means))


if __name__ == "__main__":
    main()
