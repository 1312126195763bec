"""What the contextual default loses in worlds that had no part in choosing it: the first table of docs/defaults.md.

    python experiments/scale_free.py                     the isotropic worlds and those of fixed actions
    python experiments/scale_free.py --movielens PATH    MovieLens 100K too: a file or folder of one's own
    python experiments/scale_free.py --movielens PATH --only movielens --epsilon 8 --rounds 1000000 --seeds 8
    python experiments/scale_free.py --quick             a short look, to see that it works

MovieLens is run in eight random rotations of its features, two seeds each; the others with eight seeds.
"""

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from sottovoce import halves, task
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.sim.worlds import world_of

EPSILONS = (1.0, 4.0, 8.0, 10.0)
SHAPES = {"isotropic": ((10, 5), (20, 20)), "fixed": ((10, 5), (20, 20))}
"""Arms and dimensions for each kind of contexts."""
ROTATIONS = 8
Budgets = tuple[float, ...]
Rows = np.ndarray


def regrets(name: str, arms: int, dimension: int, rounds: int, seeds: int, budgets: Budgets, **options: Any) -> Rows:
    """A row for each budget, a column for each seed."""
    shape = {"arms": arms, "dimension": dimension}
    both = [halves(task("scale-free", **shape, rounds=rounds, epsilon=epsilon)) for epsilon in budgets]
    cases = [Case(half.learner, half.mechanism) for half in both]
    world = world_of(name, **shape, **options)
    traces = simulate_grid(cases, both[0].user, world, rounds=rounds, seeds=seeds, checkpoints=1)
    return np.array([trace.regret[:, -1] for trace in traces])


def rows(rounds: int, seeds: int, budgets: Budgets, only: str, movielens: str) -> Iterator[tuple[str, Rows]]:
    for contexts, shapes in SHAPES.items():
        for arms, dimension in shapes if only in ("", contexts) else ():
            found = regrets("linear", arms, dimension, rounds, seeds or 8, budgets, contexts=contexts)
            yield f"{contexts}, {arms} actions, d = {dimension}", found
    if movielens and only in ("", "movielens"):
        every = [
            regrets("movielens", 20, 20, rounds, seeds or 2, budgets, path=movielens, rotate=rotation)
            for rotation in range(ROTATIONS)
        ]
        yield f"MovieLens, 20 movies, {ROTATIONS} rotations", np.concatenate(every, axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--movielens", default="", metavar="PATH", help="ratings of MovieLens 100K")
    parser.add_argument("--only", default="", choices=("", *SHAPES, "movielens"), help="only these worlds")
    parser.add_argument("--epsilon", action="append", type=float, help="only this budget; may be repeated")
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=0, help="of each world and rotation, instead of 8 and 2")
    parser.add_argument("--quick", action="store_true", help="1,000 rounds")
    options = parser.parse_args()
    rounds, start = 1_000 if options.quick else options.rounds, time.perf_counter()
    budgets = tuple(options.epsilon or EPSILONS)
    print(f"regret after {rounds:,} rounds, mean and standard error, at epsilon", *(f"{e:g}" for e in budgets))
    for name, found in rows(rounds, options.seeds, budgets, options.only, options.movielens):
        means, errors = found.mean(axis=1), found.std(axis=1, ddof=1) / np.sqrt(found.shape[1])
        cells = [f"{mean:8,.0f} ± {error:<6,.0f}" for mean, error in zip(means, errors, strict=True)]
        print(f"{name:36}", *cells, f"{time.perf_counter() - start:6.0f} s", flush=True)


if __name__ == "__main__":
    main()
