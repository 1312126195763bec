"""How many people the best arm costs, and how often it is wrong: `top-two` beside `lil-ucb`, both practical.

    python experiments/top_two.py            200 seeds; the table of docs/defaults.md
    python experiments/top_two.py --quick    a short look, to see that it works

One private bit per person at epsilon 1, failure 0.05. The worlds had no part in any choice for `top-two`; the last one,
at epsilon 4, has two arms that are nearly alike, and shows which rule keeps its promise there.
"""

import argparse

import numpy as np

from sottovoce import halves, task
from sottovoce.cli.output import progress_bar
from sottovoce.report.confidence import clopper_pearson
from sottovoce.sim.run import simulate
from sottovoce.sim.trace import Trace
from sottovoce.sim.worlds import world_of

WORLDS: dict[str, tuple[float, list[float]]] = {
    "five arms": (1.0, [0.9, 0.6, 0.6, 0.5, 0.5]),
    "four close arms": (1.0, [0.5, 0.45, 0.43, 0.4]),
    "ten in equal steps": (1.0, np.linspace(0.5, 0.14, 10).tolist()),
    "two nearly alike": (4.0, [0.6, 0.59, *[0.2] * 6]),
}
ROUNDS = 2_000_000
"""Far more than are needed."""


def found(learner: str, epsilon: float, rewards: list[float], rounds: int, seeds: int) -> Trace:
    shape = {"arms": len(rewards), "rounds": rounds}
    half = halves(task(learner, **shape, epsilon=epsilon))
    world = world_of("arms", arms=len(rewards), rewards=rewards)
    run = {"rounds": rounds, "seeds": seeds, "checkpoints": max(1, rounds // 2000)}
    with progress_bar(learner, rounds) as advance:
        return simulate(half.learner, half.user, world, mechanism=half.mechanism, progress=advance, **run)


def said(trace: Trace) -> str:
    """Samples with their standard error, and wrong answers with the 95 % interval of their probability."""
    assert trace.correct is not None
    wrong, seeds = int((~trace.correct).sum()), len(trace.samples)
    low, high = clopper_pearson(wrong, seeds, 0.025)
    mean, spread = trace.samples.mean(), trace.samples.std(ddof=1) / np.sqrt(seeds)
    late = f", {int((~trace.stopped).sum())} did not stop" if not trace.stopped.all() else ""
    return f"{mean:9,.0f} ± {spread:5,.0f}   wrong {wrong} of {seeds} ({low:.1%} to {high:.1%}){late}"


def main() -> None:
    """Print both learners in every world, and the ratio of their samples."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="2,000 rounds, 4 seeds")
    parser.add_argument("--world", choices=WORLDS, action="append", help="only these")
    options = parser.parse_args()
    rounds, seeds = (2000, 4) if options.quick else (ROUNDS, 200)
    for name in options.world or WORLDS:
        epsilon, rewards = WORLDS[name]
        print(f"{name}, epsilon {epsilon:g}: {', '.join(f'{reward:.2g}' for reward in rewards)}", flush=True)
        traces = [found(learner, epsilon, rewards, rounds, seeds) for learner in ("lil-ucb", "top-two")]
        print(f"  lil-ucb {said(traces[0])}\n  top-two {said(traces[1])}")
        print(f"  ratio {traces[1].samples.mean() / traces[0].samples.mean():.2f}", flush=True)


if __name__ == "__main__":
    main()
