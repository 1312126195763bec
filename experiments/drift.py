"""What a change costs the defaults, by what the task says of drift: the tables of docs/drift.md.

    python experiments/drift.py            everything, 16 seeds
    python experiments/drift.py --quick    a short look, to see that it works

Epsilon 4, 100,000 people. A world that switches does so once, in the middle; one that drifts goes to its end and back
three times. No constant was chosen by these worlds. "rises": the best arm stays as good as it was, and another one
becomes better by another 0.2.
"""

import argparse
from typing import Any

import numpy as np

from sottovoce import halves, task
from sottovoce.sim.run import simulate
from sottovoce.sim.trace import Trace
from sottovoce.sim.worlds import world_of

ARMS, CONTEXTS = {"arms": 5}, {"arms": 10, "dimension": 5}
DRIFTS = ("none", "slow", "sudden")


def worlds(rounds: int) -> dict[str, tuple[str, str, dict[str, int], dict[str, Any]]]:
    """By title: learner, world, shape, options."""
    once, slowly = {"motion": "switching", "period": rounds}, {"motion": "drifting", "period": rounds / 3}
    arms, contexts = ("thompson", "changing-arms", ARMS), ("scale-free", "changing-linear", CONTEXTS)
    return {
        "arms, another becomes the best": (*arms, once),
        "arms, another rises": (*arms, once | {"stays": 1.0}),
        "arms, slow": (*arms, slowly),
        "arms, no change": (*arms, {"motion": "fixed"}),
        "theta, another": (*contexts, once),
        "theta, slow": (*contexts, slowly),
        "theta, no change": (*contexts, {"motion": "fixed"}),
    }


def found(
    learner: str, world: str, shape: dict[str, int], options: dict[str, Any], drift: str, rounds: int, **run: int
) -> Trace:
    half = halves(task(learner, **shape, rounds=rounds, epsilon=4.0, drift=drift))
    place = world_of(world, **shape, **options)
    return simulate(half.learner, half.user, place, mechanism=half.mechanism, rounds=rounds, checkpoints=2, **run)


def said(trace: Trace, drift: str) -> str:
    """Regret of the halves, the ratio of their means with its standard error by leaving one seed out, and alarms."""
    halves = np.diff(trace.regret, axis=1, prepend=0.0)
    means, seeds = halves.mean(axis=0), len(halves)
    errors = halves.std(axis=0, ddof=1) / np.sqrt(seeds)
    without = (halves.sum(axis=0) - halves) / (seeds - 1)
    ratios = without[:, 1] / without[:, 0]
    error = np.sqrt((seeds - 1) * np.mean((ratios - ratios.mean()) ** 2))
    cells = [f"{mean:7,.0f} ± {error:<4,.0f}" for mean, error in zip(means, errors, strict=True)]
    alarms = trace.state.alarms if drift == "sudden" else None
    counted = "" if alarms is None else f"  {alarms.mean():.2f} alarms, none in {int(np.sum(alarms == 0))} runs"
    return "".join(cells) + f" {means[1] / means[0]:6.2f} ± {error:<5.2f}{counted}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="2,000 rounds, 2 seeds")
    parser.add_argument("--publish-every", type=int, default=1, help="reports between two models")
    parser.add_argument("--only", default="", help="worlds whose title begins so")
    options = parser.parse_args()
    rounds, seeds = (2_000, 2) if options.quick else (100_000, 16)
    print(f"{rounds:,} people, {seeds} seeds: declared, regret of the first half, of the second, ratio")
    for title, where in worlds(rounds).items():
        if title.startswith(options.only):
            print(title, flush=True)
            for drift in DRIFTS:
                trace = found(*where, drift, rounds, seeds=seeds, publish_every=options.publish_every)
                print(f"  {drift:7}{said(trace, drift)}", flush=True)


if __name__ == "__main__":
    main()
