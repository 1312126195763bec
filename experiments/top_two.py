"""How many people the best arm costs, and how often it is wrong: `top-two` beside `lil-ucb`, both practical.

    python experiments/top_two.py            200 seeds; the table of docs/defaults.md
    python experiments/top_two.py --quick    a short look, to see that it works

One private bit per person at epsilon 1, failure 0.05. The worlds had no part in any choice for `top-two`; the last one,
with two arms that are nearly alike and a limit of 300,000 people, shows which rule keeps its promise. "At least" is
the lower bound of Garivier and Kaufmann (2016) on the mean of every rule that keeps its promise in all worlds, for
Gaussian reports with the variance that `top-two` assumes.
"""

import argparse
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from sottovoce import halves, task
from sottovoce.cli.output import progress_bar
from sottovoce.report.confidence import clopper_pearson
from sottovoce.sim.run import simulate
from sottovoce.sim.trace import Trace
from sottovoce.sim.worlds import world_of


class World(NamedTuple):
    rewards: list[float]
    epsilon: float = 1.0
    rounds: int = 2_000_000
    """At most; usually far more than are needed."""


WORLDS = {
    "five arms": World([0.9, 0.6, 0.6, 0.5, 0.5]),
    "four close arms": World([0.5, 0.45, 0.43, 0.4]),
    "ten in equal steps": World(np.linspace(0.5, 0.14, 10).tolist()),
    "two nearly alike": World([0.6, 0.598, *[0.2] * 6], epsilon=4.0, rounds=300_000),
}


def found(learner: str, where: World, rounds: int, seeds: int) -> Trace:
    arms = len(where.rewards)
    half = halves(task(learner, arms=arms, rounds=rounds, epsilon=where.epsilon))
    world = world_of("arms", arms=arms, rewards=where.rewards)
    run = {"rounds": rounds, "seeds": seeds, "checkpoints": max(1, rounds // 2000)}
    with progress_bar(learner, rounds) as advance:
        return simulate(half.learner, half.user, world, mechanism=half.mechanism, progress=advance, **run)


def fewest(where: World, failure: float = 0.05) -> float:
    """The lower bound: ln(1/failure), nearly, over the information of a report under the best shares of the arms."""
    means = np.tanh(where.epsilon / 2) * np.sort(2 * np.asarray(where.rewards))[::-1]
    halved = (means[0] - means[1:]) ** 2 / 2

    def information(first: float) -> float:
        """What is learned of every pair if the best arm has this share and the others get what makes them equal."""
        most = first * halved.min() * (1 - 1e-12)
        return brentq(lambda rate: first + np.sum(first * rate / (first * halved - rate)) - 1, 0.0, most)

    best = minimize_scalar(lambda first: -information(first), bounds=(0.01, 0.99), method="bounded")
    return (1 - 2 * failure) * np.log(1 / failure - 1) / information(best.x)


def said(trace: Trace) -> str:
    """Samples with their standard error, and the wrong answers with the 95 % interval of their probability."""
    assert trace.correct is not None
    wrong, seeds = int((~trace.correct & trace.stopped).sum()), len(trace.samples)
    low, high = clopper_pearson(wrong, seeds, 0.025)
    mean, error = trace.samples.mean(), trace.samples.std(ddof=1) / np.sqrt(seeds)
    answers = f"{int(trace.stopped.sum())} answers of {seeds}, {wrong} wrong ({low:.1%} to {high:.1%})"
    return f"{mean:9,.0f} ± {error:5,.0f} people, {answers}"


def main() -> None:
    """Print both learners in every world, and the ratio of their samples."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="2,000 rounds, 4 seeds")
    parser.add_argument("--world", choices=WORLDS, action="append", help="only these")
    options = parser.parse_args()
    for name in options.world or WORLDS:
        where = WORLDS[name]
        rounds, seeds = (2000, 4) if options.quick else (where.rounds, 200)
        print(
            f"{name}, epsilon {where.epsilon:g}: {', '.join(f'{reward:.3g}' for reward in where.rewards)}", flush=True
        )
        traces = [found(learner, where, rounds, seeds) for learner in ("lil-ucb", "top-two")]
        print(f"  lil-ucb {said(traces[0])}\n  top-two {said(traces[1])}")
        ratio = traces[1].samples.mean() / traces[0].samples.mean()
        print(f"  ratio {ratio:.2f}; at least {fewest(where):,.0f} people", flush=True)


if __name__ == "__main__":
    main()
