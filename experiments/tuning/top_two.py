"""How `steer` of top-two was chosen: four worlds, epsilon 1 and 4.

    python experiments/tuning/top_two.py            200 seeds
    python experiments/tuning/top_two.py --quick    a short look, to see that it works

Printed are the mean samples, those of `lil-ucb` beside them, and the geometric mean over worlds and budgets in units of
the mean of the row.
"""

import argparse

import numpy as np
from best_arm_worlds import WORLDS

from sottovoce import halves, task
from sottovoce.sim.run import Case, simulate, simulate_grid
from sottovoce.sim.worlds import world_of

STEERS = (3.0, 5.0, 10.0, 20.0, 40.0)
EPSILONS = (1.0, 4.0)
SEED = 300
"""Other seeds than those of the figures."""


def samples(rewards: list[float], epsilon: float, rounds: int, seeds: int) -> np.ndarray:
    """Mean samples for each steer, then those of lil-ucb."""
    shape = {"arms": len(rewards), "rounds": rounds, "epsilon": epsilon}
    world = world_of("arms", arms=len(rewards), rewards=rewards)
    run = {"rounds": rounds, "seeds": seeds, "seed": SEED, "checkpoints": max(1, rounds // 1000)}
    both = [halves(task("top-two", **shape, steer=steer)) for steer in STEERS]
    traces = simulate_grid([Case(half.learner, half.mechanism) for half in both], both[0].user, world, **run)
    other = halves(task("lil-ucb", **shape))
    traces.append(simulate(other.learner, other.user, world, mechanism=other.mechanism, **run))
    return np.array([trace.samples.mean() for trace in traces])


def main() -> None:
    """Print a row per world and budget, then the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 rounds, 2 seeds")
    rounds, seeds = (1000, 2) if parser.parse_args().quick else (400_000, 200)
    print(f"{'steer':32}" + "".join(f"{steer:>10g}" for steer in STEERS) + f"{'lil-ucb':>10}", flush=True)
    rows = []
    for name, rewards in WORLDS.items():
        for epsilon in EPSILONS:
            rows.append(samples(rewards, epsilon, rounds, seeds))
            print(f"{f'{name}, epsilon {epsilon:g}':32}" + "".join(f"{v:10,.0f}" for v in rows[-1]), flush=True)
    table = np.array(rows)[:, :-1]
    means = np.exp(np.log(table / table.mean(axis=1, keepdims=True)).mean(axis=0))
    print(f"{'geometric mean':32}" + "".join(f"{value:10.2f}" for value in means))


if __name__ == "__main__":
    main()
