"""What it is worth to scale-free that it sees when all people choose among the same few candidates.

    python experiments/tuning/few.py                    without and with it, all tuning worlds, 32 seeds
    python experiments/tuning/few.py --world fixed      only this one; --world may be repeated
    python experiments/tuning/few.py --quick            a short look, to see that it works

Mean regret after 100,000 people at epsilon 4 and 8, and in how many runs it was seen.
Worlds of more coordinates than are looked at are left out.
"""

import argparse
import dataclasses
from typing import Any

import numpy as np
from contextual_worlds import RETURNING, SHAPES, WORLDS, Everyday
from scale_free import SEED

from sottovoce import halves, task
from sottovoce.learners.contextual.scale_free import WIDEST
from sottovoce.sim.run import simulate

EPSILONS = (4.0, 8.0)
"""At epsilon 1 it cannot be seen."""
UNEVEN = {
    "uneven 2": Everyday(dimension=2, arms=10, length=0.7, spread=0.2, centre=1),
    "uneven 3": Everyday(dimension=3, arms=10, length=0.7, spread=0.2, centre=1),
    "uneven 3, exact": Everyday(dimension=3, arms=10, length=0.7, spread=0.2, centre=1, noise=0),
    "uneven 5": Everyday(dimension=5, arms=10, length=3, spread=0.01),
}
"""Fresh candidates that lie nearly along one line."""
PLACES = {name: Everyday(**SHAPES[d], **numbers) for name, (d, numbers) in RETURNING.items()} | UNEVEN | WORLDS


def played(name: str, epsilon: float, looks: bool, rounds: int, seeds: int) -> tuple[np.ndarray, int]:
    """Regret by seed, and in how many of them it was seen."""
    world = PLACES[name]
    shape = {"arms": world.arms, "dimension": world.dimension, "rounds": rounds}
    half: Any = halves(task("scale-free", **shape, epsilon=epsilon, watch=0.0))
    learner = dataclasses.replace(half.learner, looks=looks)
    run = {"rounds": rounds, "seeds": seeds, "seed": SEED, "checkpoints": 1}
    trace: Any = simulate(learner, half.user, world, mechanism=half.mechanism, **run)
    return trace.regret[:, -1], int(np.sum(trace.state.found > 0))


def main() -> None:
    """Print a row per world and budget as it is done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", action="append", choices=list(PLACES), help="only these")
    parser.add_argument("--seeds", type=int, default=32)
    parser.add_argument("--quick", action="store_true", help="1,000 rounds, 2 seeds")
    options = parser.parse_args()
    rounds, seeds = (1_000, 2) if options.quick else (100_000, options.seeds)
    print(f"regret after {rounds:,} rounds, mean and standard error of {seeds} seeds, without and with; seen in")
    for name in options.world or PLACES:
        for epsilon in EPSILONS if PLACES[name].dimension <= WIDEST else ():
            cells = []
            for looks in (False, True):
                found, seen = played(name, epsilon, looks, rounds, seeds)
                cells.append(f"{found.mean():10,.0f} ± {found.std(ddof=1) / seeds**0.5:<6,.0f}")
            print(f"{f'{name}, epsilon {epsilon:g}':40}", *cells, seen, flush=True)


if __name__ == "__main__":
    main()
