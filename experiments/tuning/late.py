"""How scale-free's `STEADY` and `LEAST_CUT` were chosen: regret without shorter late steps and with them, or by `cut`.

    python experiments/tuning/late.py                                     every tuning world, 100,000 people, 8 seeds
    python experiments/tuning/late.py --world ratings --rounds 1000000    only this one; --world may be repeated
    python experiments/tuning/late.py --cuts                              by the share of residuals that the clip cuts
    python experiments/tuning/late.py --quick                             a short look, to see that it works

`--steady NUMBER` is tried instead of that of the learner. Worlds and seeds are those of `scale_free.py`. The last
column of `--cuts` has the share that the learner takes by itself.
"""

import argparse
import dataclasses
import math
from typing import Any

from contextual_worlds import WORLDS
from scale_free import EPSILONS, SEED

from sottovoce import halves, task
from sottovoce.learners.contextual.scale_free import STEADY
from sottovoce.sim.run import Case, simulate_grid

SHARES = (0.4, 0.35, 0.3, 0.25)


def cases(declared: Any, times: float, cuts: bool) -> list[Case]:
    """The learner whose steps never become shorter, and the one where they do so `times` as late; or one a share."""
    learner, _, mechanism = halves(declared)
    own: Any = learner
    steps = [{"steady": math.inf}, {"steady": times * own.steady}]
    changes = [{"cut": share} for share in (*SHARES, own.cut)] if cuts else steps
    return [Case(dataclasses.replace(own, **change), mechanism) for change in changes]


def main() -> None:
    """Print a row per world and budget as it is done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", action="append", choices=list(WORLDS), help="only these")
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--steady", type=float, default=STEADY)
    parser.add_argument("--cuts", action="store_true", help="compare shares of cut residuals instead")
    parser.add_argument("--quick", action="store_true", help="1,000 rounds, 2 seeds")
    options = parser.parse_args()
    rounds, seeds = (1_000, 2) if options.quick else (options.rounds, options.seeds)
    columns = f"cut {SHARES}, own" if options.cuts else "without, with"
    print(f"regret after {rounds:,} rounds, mean and standard error of {seeds} seeds: {columns}")
    for name in options.world or WORLDS:
        world = WORLDS[name]
        shape = {"arms": world.arms, "dimension": world.dimension, "rounds": rounds}
        for epsilon in EPSILONS:
            declared = task("scale-free", **shape, epsilon=epsilon, watch=0.0)
            run = {"rounds": rounds, "seeds": seeds, "seed": SEED, "checkpoints": 1}
            chosen = cases(declared, options.steady / STEADY, options.cuts)
            traces = simulate_grid(chosen, halves(declared).user, world, **run)
            found = [trace.regret[:, -1] for trace in traces]
            cells = [f"{one.mean():10,.0f} ± {one.std(ddof=1) / seeds**0.5:<6,.0f}" for one in found]
            print(f"{f'{name}, epsilon {epsilon:g}':40}", *cells, flush=True)


if __name__ == "__main__":
    main()
