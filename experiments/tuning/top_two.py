"""How `steer`, START and the odds of top-two were chosen: ten worlds, epsilon 1.

    python experiments/tuning/top_two.py            200 seeds
    python experiments/tuning/top_two.py --quick    a short look, to see that it works

Printed are the mean samples, those of `lil-ucb` beside them, and the geometric mean over worlds in units of the mean of
the row. "equal" places the same bet on every gap, "peak" most on the two in the middle.
"""

import argparse
import dataclasses
from typing import Any

import numpy as np
from best_arm_worlds import WORLDS

from sottovoce import halves, task
from sottovoce.sim.run import Case, simulate, simulate_grid
from sottovoce.sim.worlds import world_of

CASES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "steer 10": {"steer": 10.0},
    "40": {"steer": 40.0},
    "start 0": {"start": 0.0},
    "0.1": {"start": 0.1},
    "equal": {"odds": (1.0,) * 8},
    "peak": {"odds": (1.0, 2.0, 4.0, 8.0, 8.0, 4.0, 2.0, 1.0)},
}
SEED = 300
"""Other seeds than those of the figures."""


def samples(rewards: list[float], rounds: int, seeds: int) -> np.ndarray:
    """Mean samples for each case, then those of lil-ucb."""
    shape = {"arms": len(rewards), "rounds": rounds, "epsilon": 1.0}
    world = world_of("arms", arms=len(rewards), rewards=rewards)
    run = {"rounds": rounds, "seeds": seeds, "seed": SEED, "checkpoints": max(1, rounds // 1000)}
    half, other = (halves(task(name, **shape)) for name in ("top-two", "lil-ucb"))
    learner: Any = half.learner
    ours = [dataclasses.replace(learner, **numbers) for numbers in CASES.values()]
    traces = simulate_grid([Case(each, half.mechanism) for each in ours], half.user, world, **run)
    traces.append(simulate(other.learner, other.user, world, mechanism=other.mechanism, **run))
    return np.array([trace.samples.mean() for trace in traces])


def main() -> None:
    """Print a row per world, then the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 rounds, 2 seeds")
    rounds, seeds = (1000, 2) if parser.parse_args().quick else (400_000, 200)
    print(f"{'':24}" + "".join(f"{name:>9}" for name in (*CASES, "lil-ucb")), flush=True)
    rows = []
    for name, rewards in WORLDS.items():
        rows.append(samples(rewards, rounds, seeds))
        print(f"{name:24}" + "".join(f"{value:9,.0f}" for value in rows[-1]), flush=True)
    table = np.array(rows)[:, :-1]
    means = np.exp(np.log(table / table.mean(axis=1, keepdims=True)).mean(axis=0))
    print(f"{'geometric mean':24}" + "".join(f"{value:9.2f}" for value in means))


if __name__ == "__main__":
    main()
