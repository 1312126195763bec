"""How pace, focus and width of `newton` were chosen: the worlds of newton_worlds.py, beside `fkm` and `saha-tewari`.

    python experiments/tuning/newton.py            30,000 people, 6 seeds
    python experiments/tuning/newton.py --quick    a short look, to see that it works

The choice is judged by the geometric mean of the regret over the worlds.
"""

import argparse
from itertools import product

import numpy as np
from newton_worlds import PLACES, Place

from sottovoce import halves, task
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.sim.worlds import world_of

CHOICES = list(product((0.5, 1.0, 2.0), (0.1, 0.3, 1.0), (0.2, 0.3, 0.45)))
"""(pace, focus, width)"""
OTHERS = ("fkm", "saha-tewari")
SEED = 700
"""Other seeds than those of the figures."""


def regrets(learner: str, tunings: list[dict[str, float]], place: Place, rounds: int, seeds: int) -> list[float]:
    """Mean regret of every tuning in one world."""
    shape = {"dimension": place.dimension, "region": {"kind": place.region}}
    world = world_of(place.world, **shape, depth=place.depth, **place.options)
    run = [halves(task(learner, rounds=rounds, epsilon=place.epsilon, **shape, **tuning)) for tuning in tunings]
    cases = [Case(half.learner, half.mechanism) for half in run]
    traces = simulate_grid(cases, run[0].user, world, rounds=rounds, seeds=seeds, seed=SEED, checkpoints=10)
    return [float(trace.regret[:, -1].mean()) for trace in traces]


def main() -> None:
    """Print the worlds one after the other, then the choices with their geometric means, the best first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="500 rounds, 2 seeds")
    rounds, seeds = (500, 2) if parser.parse_args().quick else (30_000, 6)
    tunings = [dict(zip(("pace", "focus", "width"), choice, strict=True)) for choice in CHOICES]
    rows = []
    for place in PLACES:
        others = [regrets(learner, [{}], place, rounds, seeds)[0] for learner in OTHERS]
        rows.append(regrets("newton", tunings, place, rounds, seeds) + others)
        best = f"best newton {min(rows[-1][:-2]):,.0f}, fkm {others[0]:,.0f}, saha-tewari {others[1]:,.0f}"
        print(f"{place.world}, d = {place.dimension}, epsilon {place.epsilon:g}: {best}", flush=True)
    means = np.exp(np.log(np.maximum(rows, 1.0)).mean(axis=0))
    for mean, name in sorted(zip(means, [*map(str, CHOICES), *OTHERS], strict=True)):
        print(f"{name:20}{mean:8,.0f}")


if __name__ == "__main__":
    main()
