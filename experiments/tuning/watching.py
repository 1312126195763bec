"""What it is worth to the contextual default that its steps become long again, and that models are published often.

    python experiments/tuning/watching.py             without and with `watch`, all worlds, 8 seeds
    python experiments/tuning/watching.py --later     only worlds in which features come later
    python experiments/tuning/watching.py --models    by the number of models, without `watch`
    python experiments/tuning/watching.py --quick     a short look, to see that it works; goes with the others

The worlds are those of contextual_worlds.py, and four in which some coordinates are zero at first. Mean regret of
100,000 people; with `watch` there are 1,000 models, and in brackets the runs in which steps became long again.
"""

import argparse
from typing import Any

import jax
import jax.numpy as jnp
from contextual_worlds import WORLDS, Everyday

from sottovoce import halves, task
from sottovoce.learners.base import Key, configuration
from sottovoce.sim.run import simulate
from sottovoce.sim.trace import Trace

EPSILONS, SEED = (1.0, 4.0, 8.0), 1234
MODELS = (100_000, 5_000, 2_000, 1_000, 500, 200)


@configuration("dimension", "arms", "sets")
class Later(Everyday):
    """The first coordinates, `share` of them, are zero for the first `before` people."""

    before: int = 0
    share: float = 0.5

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        features = super().visit(round, key) @ self.rotation.T
        hidden = (round < self.before) & (jnp.arange(self.dimension) < self.share * self.dimension)
        return jnp.where(hidden, 0.0, features) @ self.rotation


LATER: dict[str, Everyday] = {
    "half of 5": Later(dimension=5, arms=10, unit=1, before=30_000),
    "two of 10, uneven": Later(dimension=10, arms=10, length=0.7, spread=0.5, before=50_000, share=0.11),
    "half of 20": Later(dimension=20, arms=20, unit=1, before=30_000),
    "most of 10, little noise": Later(dimension=10, arms=20, unit=1, noise=0.3, before=20_000, share=0.8),
}


def trace(world: Any, epsilon: float, rounds: int, seeds: int, models: int, watch: float) -> Trace:
    declared = task(
        "scale-free", arms=world.arms, dimension=world.dimension, rounds=rounds, epsilon=epsilon, watch=watch
    )
    learner, user, mechanism = halves(declared)
    run = {"rounds": rounds, "seeds": seeds, "seed": SEED, "checkpoints": 1, "publish_every": max(1, rounds // models)}
    return simulate(learner, user, world, mechanism=mechanism, **run)


def watched(world: Any, epsilon: float, rounds: int, seeds: int) -> str:
    """Mean regret without and with `watch`, and in how many runs there was an alarm."""
    plain, found = (trace(world, epsilon, rounds, seeds, 1_000, watch) for watch in (0.0, 1.0))
    means = [f"{one.regret[:, -1].mean():,.0f}" for one in (plain, found)]
    return f"{means[0]:>7} {means[1]:>7} ({int((found.state.alarms > 0).sum())})"


def by_models(world: Any, epsilon: float, rounds: int, seeds: int) -> str:
    found = (trace(world, epsilon, rounds, seeds, models, 0.0).regret[:, -1].mean() for models in MODELS)
    return " ".join(f"{mean:7,.0f}" for mean in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--later", action="store_true", help="only worlds in which features come later")
    parser.add_argument("--models", action="store_true", help="by the number of models")
    parser.add_argument("--world", action="append", help="only this one; may be repeated")
    parser.add_argument("--quick", action="store_true", help="1,000 people, 2 seeds, one world")
    options = parser.parse_args()
    rounds, seeds = (1_000, 2) if options.quick else (100_000, 8)
    worlds = LATER if options.later else WORLDS if options.models else LATER | WORLDS
    wanted = options.world or (list(worlds)[:1] if options.quick else list(worlds))
    print(
        f"models: {MODELS}" if options.models else "without, with, and runs with an alarm", EPSILONS, sep=", epsilon "
    )
    for name in wanted:
        of = by_models if options.models else watched
        cells = (of(worlds[name], epsilon, rounds, seeds) for epsilon in EPSILONS)
        print(f"{name:26}", " | ".join(cells), flush=True)


if __name__ == "__main__":
    main()
