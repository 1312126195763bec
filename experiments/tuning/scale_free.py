"""How the numbers of the scale-free learner were chosen: twenty-nine worlds, epsilon 1, 4 and 8.

    python experiments/tuning/scale_free.py            all worlds, 100,000 rounds, 8 seeds
    python experiments/tuning/scale_free.py --only preset --only "early 0"    only these columns
    python experiments/tuning/scale_free.py --quick    a short look, to see that it works

Each number of the preset is varied by itself; `linucb` and `gradient` are run beside it. The choice is judged by the
geometric mean over worlds and budgets of (regret + 100) in units of the best of its row: a difference below 100 does
not matter to anybody.
"""

import argparse
import time
from typing import Any

import numpy as np
from contextual_worlds import WORLDS, Everyday, MadeUpRatings

from sottovoce import halves, task
from sottovoce.sim.run import Case, simulate_grid

SEED = 300
"""Other seeds than those of the benchmarks."""
Groups = list[tuple[str, dict[str, dict[str, Any]]]]
"""Learners, and numbers of theirs by name; those of one group are run together."""
GROUPS: Groups = [
    (
        "scale-free",
        {
            "preset": {},
            "cut 0.3": {"cut": 0.3},
            "cut 0.5": {"cut": 0.5},
            "recency 1": {"recency": 1.0},
            "recency 3": {"recency": 3.0},
            "early 0": {"early": 0.0},
            "early 6": {"early": 6.0},
            "first 0.03": {"first": 0.03},
            "first 0.3": {"first": 0.3},
            "trial 0": {"trial": 0.0},
            "trial 10": {"trial": 10.0},
        },
    ),
    ("scale-free", {"no contrast": {"contrast": 0.0}}),
    ("scale-free", {"share 0.1": {"share": 0.1}}),
    ("scale-free", {"share 0.35": {"share": 0.35}}),
    ("gradient", {"gradient": {"link": "identity"}}),
    ("linucb", {"linucb": {}}),
]
EPSILONS = (1.0, 4.0, 8.0)


def regrets(world: Everyday | MadeUpRatings, rounds: int, seeds: int, groups: Groups = GROUPS) -> np.ndarray:
    """Mean regret, a row for each budget: the same visitors for all."""
    found = [_regrets(world, learner, list(choices.values()), rounds, seeds) for learner, choices in groups]
    return np.concatenate(found, axis=1)


def _regrets(
    world: Everyday | MadeUpRatings, learner: str, choices: list[dict[str, Any]], rounds: int, seeds: int
) -> np.ndarray:
    shape = {"arms": world.arms, "dimension": world.dimension, "rounds": rounds}
    both = [halves(task(learner, **shape, epsilon=epsilon, **one)) for epsilon in EPSILONS for one in choices]
    cases = [Case(half.learner, half.mechanism) for half in both]
    run = {"rounds": rounds, "seeds": seeds, "seed": SEED, "checkpoints": 1}
    traces = simulate_grid(cases, both[0].user, world, **run)
    return np.reshape([trace.regret[:, -1].mean() for trace in traces], (len(EPSILONS), len(choices)))


def main() -> None:
    """Print a row per world and budget as it is done, then the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 rounds, 2 seeds")
    parser.add_argument("--only", action="append", help="a column; may be repeated")
    options = parser.parse_args()
    rounds, seeds = (1_000, 2) if options.quick else (100_000, 8)
    names = options.only or [name for _, choices in GROUPS for name in choices]
    wanted = [(learner, {n: choices[n] for n in names if n in choices}) for learner, choices in GROUPS]
    groups: Groups = [(learner, choices) for learner, choices in wanted if choices]
    print(f"regret after {rounds:,} rounds, mean of {seeds} seeds")
    print(f"{'':32}" + "".join(f"{name:>12}" for _, choices in groups for name in choices), flush=True)
    rows = []
    for name, world in WORLDS.items():
        start = time.perf_counter()
        found = regrets(world, rounds, seeds, groups)
        for epsilon, row in zip(EPSILONS, found, strict=True):
            print(f"{f'{name}, epsilon {epsilon:g}':32}" + "".join(f"{value:12,.0f}" for value in row), flush=True)
        print(f"    {time.perf_counter() - start:.0f} s", flush=True)
        rows += list(found)
    table = np.array(rows) + 100
    against_best = table / table.min(axis=1, keepdims=True)
    print(f"{'geometric mean of the ratios':32}" + "".join(f"{v:12.2f}" for v in np.exp(np.log(against_best).mean(0))))
    print(f"{'worst ratio':32}" + "".join(f"{v:12.2f}" for v in against_best.max(axis=0)))


if __name__ == "__main__":
    main()
