"""How the numbers of LinUCB's practical preset were chosen: seven worlds, none of them that of a published benchmark.

    python experiments/tuning/linucb.py            all worlds, 50,000 rounds, 16 seeds
    python experiments/tuning/linucb.py --quick    a short look, to see that it works

Ridge and bonus vary; the first `warm` rounds and the `growth` between models stay those of the preset. The choice is
judged by the geometric mean of the regret over the worlds, so that no world counts more because its regret is larger.
"""

import argparse
import math
import time
from typing import NamedTuple

import numpy as np

from sottovoce import halves, task
from sottovoce.catalogue.task import Task
from sottovoce.sim.halves import user_of
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.sim.worlds import world_of


class Choice(NamedTuple):
    ridge: float
    bonus: float


class Place(NamedTuple):
    dimension: int
    arms: int
    contexts: str
    epsilon: float


CHOICES = [Choice(1.0, 0.3), Choice(1.0, 0.1), Choice(1.0, 0.2), Choice(2.0, 0.2), Choice(2.0, 0.3), Choice(0.5, 0.2)]
"""The first is the preset's."""

PLACES = [
    Place(8, 5, "isotropic", 2.0),
    Place(3, 20, "fixed", 2.0),
    Place(8, 10, "fixed", 4.0),
    Place(6, 8, "ill-conditioned", 2.0),
    Place(12, 6, "isotropic", 6.0),
    Place(4, 5, "fixed", 1.0),
    Place(10, 10, "ill-conditioned", 6.0),
]


def regrets(place: Place, rounds: int, seeds: int) -> list[float]:
    """Mean regret of every choice in one world: one compiled loop, the same visitors for all of them."""
    contracts = [_contract(place, choice, rounds) for choice in CHOICES]
    traces = simulate_grid(
        [_case(contract) for contract in contracts],
        user_of(contracts[0]),
        world_of("linear", arms=place.arms, dimension=place.dimension, contexts=place.contexts),
        rounds=rounds,
        seeds=seeds,
        checkpoints=10,
    )
    return [float(trace.regret[:, -1].mean()) for trace in traces]


def _contract(place: Place, choice: Choice, rounds: int) -> Task:
    shape = {"arms": place.arms, "dimension": place.dimension, "rounds": rounds, "epsilon": place.epsilon}
    return task("linucb", **shape, **choice._asdict())


def _case(contract: Task) -> Case:
    learner, _, mechanism = halves(contract)
    return Case(learner, mechanism)


def main() -> None:
    """Print a row per world as it is done, then the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="2,000 rounds, 4 seeds")
    rounds, seeds = (2_000, 4) if parser.parse_args().quick else (50_000, 16)
    print(f"regret after {rounds:,} rounds, mean of {seeds} seeds; columns are (ridge, bonus)")
    print(f"{'':46}" + "".join(f"{f'({c.ridge:g}, {c.bonus:g})':>12}" for c in CHOICES), flush=True)
    rows = []
    for number, place in enumerate(PLACES, 1):
        start = time.perf_counter()
        rows.append(regrets(place, rounds, seeds))
        seconds = time.perf_counter() - start
        name = f"{number}/{len(PLACES)} d {place.dimension}, {place.arms} arms, {place.contexts}, "
        name += f"epsilon {place.epsilon:g}"
        print(f"{name:46}" + "".join(f"{value:12,.0f}" for value in rows[-1]) + f"   {seconds:.0f} s", flush=True)
    means = np.exp(np.log(rows).mean(axis=0))
    assert all(math.isfinite(mean) for mean in means)
    print(f"{'geometric mean':46}" + "".join(f"{value:12,.0f}" for value in means))


if __name__ == "__main__":
    main()
