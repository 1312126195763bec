"""How the numbers of the private gradient learner were chosen: eleven worlds, none of them that of a benchmark.

    python experiments/tuning/gradient.py            all worlds, 30,000 rounds, 12 seeds
    python experiments/tuning/gradient.py --quick    a short look, to see that it works

Step, recency and exploration vary. The choice is judged by the geometric mean over the worlds of the regret in units of
that of uniform play. No exploration is a little better on average; some is kept because it lowers the regret where
everybody sees the same actions and reports are clear (the last three worlds).
"""

import argparse
import math
import time
from typing import NamedTuple

import numpy as np

from sottovoce import halves, task
from sottovoce.catalogue.task import Task
from sottovoce.learners import uniform_of
from sottovoce.sim.halves import user_of
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.sim.worlds import world_of

SEED = 200
"""Other seeds than those of the benchmarks."""


class Choice(NamedTuple):
    step: float
    recency: float
    explore: float


class Place(NamedTuple):
    link: str
    dimension: int
    arms: int
    contexts: str
    epsilon: float


CHOICES = [
    Choice(2.0, 10.0, 0.005),
    Choice(2.0, 10.0, 0.0),
    Choice(2.0, 10.0, 0.02),
    Choice(2.0, 3.0, 0.005),
    Choice(1.0, 10.0, 0.02),
    Choice(4.0, 10.0, 0.00125),
]
"""The first is the preset's."""

PLACES = [
    Place("logistic", 2, 5, "isotropic", 1.0),
    Place("probit", 6, 20, "isotropic", 2.0),
    Place("logistic", 4, 6, "fixed", 2.0),
    Place("probit", 5, 12, "fixed", 3.0),
    Place("logistic", 8, 8, "ill-conditioned", 4.0),
    Place("poisson", 4, 6, "isotropic", 2.0),
    Place("identity", 5, 8, "fixed", 2.0),
    Place("logistic", 5, 7, "adversarial", 2.0),
    Place("logistic", 3, 20, "fixed", 10.0),
    Place("identity", 8, 12, "fixed", 8.0),
    Place("probit", 6, 10, "fixed", 4.0),
]


def regrets(place: Place, rounds: int, seeds: int) -> list[float]:
    """Mean regret of every choice in one world, in units of uniform play: the same visitors for all of them."""
    contracts = [_contract(place, choice, rounds) for choice in CHOICES]
    name = "linear" if place.link == "identity" else place.link
    world = world_of(name, arms=place.arms, dimension=place.dimension, contexts=place.contexts)
    run = {"rounds": rounds, "seeds": seeds, "seed": SEED, "checkpoints": 10}
    traces = simulate_grid([_case(contract) for contract in contracts], user_of(contracts[0]), world, **run)
    (uniform,) = simulate_grid([Case(uniform_of(contracts[0]), None)], user_of(contracts[0]), world, **run)
    return [float(trace.regret[:, -1].mean() / uniform.regret[:, -1].mean()) for trace in traces]


def _contract(place: Place, choice: Choice, rounds: int) -> Task:
    shape = {"arms": place.arms, "dimension": place.dimension, "rounds": rounds, "epsilon": place.epsilon}
    return task("gradient", **shape, link=place.link, **choice._asdict())


def _case(contract: Task) -> Case:
    learner, _, mechanism = halves(contract)
    return Case(learner, mechanism)


def main() -> None:
    """Print a row per world as it is done, then the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="2,000 rounds, 4 seeds")
    rounds, seeds = (2_000, 4) if parser.parse_args().quick else (30_000, 12)
    print(f"share of uniform regret after {rounds:,} rounds, mean of {seeds} seeds; (step, recency, explore)")
    print(f"{'':54}" + "".join(f"{f'({c.step:g}, {c.recency:g}, {c.explore:g})':>18}" for c in CHOICES), flush=True)
    rows = []
    for number, place in enumerate(PLACES, 1):
        start = time.perf_counter()
        rows.append(regrets(place, rounds, seeds))
        seconds = time.perf_counter() - start
        name = f"{number}/{len(PLACES)} {place.link}, d {place.dimension}, {place.arms} arms, {place.contexts}, "
        name += f"epsilon {place.epsilon:g}"
        print(f"{name:54}" + "".join(f"{value:18.1%}" for value in rows[-1]) + f"   {seconds:.0f} s", flush=True)
    means = np.exp(np.log(rows).mean(axis=0))
    assert all(math.isfinite(mean) for mean in means)
    print(f"{'geometric mean':54}" + "".join(f"{value:18.1%}" for value in means))


if __name__ == "__main__":
    main()
