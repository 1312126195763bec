"""Points to tune, one number a person: `newton` beside `fkm`, `saha-tewari` and `two-point`, which asks for a slope.

    python experiments/one_point.py            100,000 people, 8 seeds; the table of docs/defaults.md
    python experiments/one_point.py --quick    a short look, to see that it works

Mean regret ± its standard error on balls, presets `practical`. Nothing was tuned in these worlds. `uniform` plays any
point. The regret of two points is the mean of both.
"""

import argparse
from itertools import product

import numpy as np

from sottovoce import halves, task
from sottovoce.learners import uniform_of
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of

LEARNERS = ("newton", "fkm", "saha-tewari", "two-point", "uniform")
WORLDS = ("quadratic", "absolute", "valley", "cliff")
DIMENSIONS = (1, 3, 5)
EPSILONS = (1.0, 4.0)


def said(learner: str, world: str, dimension: int, epsilon: float, rounds: int, seeds: int) -> str:
    """The regret of one learner in one world."""
    asked = task("newton" if learner == "uniform" else learner, dimension=dimension, rounds=rounds, epsilon=epsilon)
    half = halves(asked)
    played = uniform_of(asked) if learner == "uniform" else half.learner
    where = world_of(world, dimension=dimension)
    trace = simulate(played, half.user, where, mechanism=half.mechanism, rounds=rounds, seeds=seeds, checkpoints=10)
    regret = trace.regret[:, -1]
    return f"{regret.mean():,.0f} ± {regret.std(ddof=1) / np.sqrt(seeds):,.0f}"


def main() -> None:
    """Print a row per budget, world and dimension as it is done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="500 rounds, 2 seeds")
    rounds, seeds = (500, 2) if parser.parse_args().quick else (100_000, 8)
    print("| epsilon | world | d | " + " | ".join(LEARNERS) + " |", flush=True)
    for epsilon, world, dimension in product(EPSILONS, WORLDS, DIMENSIONS):
        cells = [said(learner, world, dimension, epsilon, rounds, seeds) for learner in LEARNERS]
        print(f"| {epsilon:g} | {world} | {dimension} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
