"""What publishing rarely costs learners for arms: those that play the largest index spread their offers in between.

    python experiments/batches.py            20,000 people, 16 seeds; the table of docs/defaults.md
    python experiments/batches.py --quick    a short look, to see that it works

Mean regret ± its standard error at epsilon 2; a column for each number of reports between publications. "not spread"
is the same learner that offers one arm to everybody until the next publication.
"""

import argparse
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from sottovoce import halves, task
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of

LEARNERS = ("kl-moss", "kl-ucb-plus-plus", "ucb", "thompson")
BATCHES = (1, 100, 500)
WORLDS = {"four": [0.6, 0.5, 0.45, 0.4], "ten": [0.6, *[0.5] * 9]}


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class NotSpread:
    """A learner without its `pretend`."""

    learner: Any

    def init(self) -> Any:
        return self.learner.init()

    def ask(self, state: Any, key: jax.Array) -> Any:
        return self.learner.ask(state, key)

    def tell(self, state: Any, memo: Any, estimate: Any) -> Any:
        return self.learner.tell(state, memo, estimate)


def said(learner: str, spread: bool, rewards: list[float], publish_every: int, rounds: int, seeds: int) -> str:
    arms = len(rewards)
    half = halves(task(learner, arms=arms, rounds=rounds, epsilon=2.0))
    run = {"rounds": rounds, "seeds": seeds, "publish_every": publish_every, "checkpoints": 10}
    world = world_of("arms", arms=arms, rewards=rewards)
    played = half.learner if spread else NotSpread(half.learner)
    regret = simulate(played, half.user, world, mechanism=half.mechanism, **run).regret[:, -1]
    return f"{regret.mean():,.0f} ± {regret.std(ddof=1) / np.sqrt(seeds):,.0f}"


def main() -> None:
    """Print a row per world and learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="500 rounds, 2 seeds")
    rounds, seeds = (500, 2) if parser.parse_args().quick else (20_000, 16)
    print("| arms | learner | " + " | ".join(map(str, BATCHES)) + " |", flush=True)
    for world, rewards in WORLDS.items():
        for learner in LEARNERS:
            for spread in (True, False) if learner != "thompson" else (True,):
                cells = [said(learner, spread, rewards, every, rounds, seeds) for every in BATCHES]
                name = learner if spread else f"{learner}, not spread"
                print(f"| {world} | {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
