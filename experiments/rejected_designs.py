"""Two points, three ways to add noise: why the slope is what is made private (Zheng et al. 2020, Algorithm 2).

    python experiments/rejected_designs.py            16,000 rounds, 8 seeds; a table, and results/rejected_designs.png
    python experiments/rejected_designs.py --quick    a short look, to see that it works

- the slope, one private bit: what this product does.
- each reward with its own noise, half the budget each: private, but a slope is a difference over a short distance, so
  the points must be far apart, and the method is as slow as with one point.
- both rewards with the same noise: the noise cancels in the difference. It learns as if there were no privacy, because
  there is none (tests/theorems/test_rejected_designs.py).
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np

from sottovoce import Interval, budget, calibrate, halves, task
from sottovoce.learners.base import Key, Offer, configuration
from sottovoce.learners.convex.multi_point import SlopeDescent
from sottovoce.privacy.mechanisms import noise_of
from sottovoce.sim.gates import channel_of
from sottovoce.sim.random import sealed, unsealed
from sottovoce.sim.run import simulate
from sottovoce.sim.trace import Trace
from sottovoce.sim.worlds import world_of

matplotlib.use("Agg")
from matplotlib import pyplot as plt

DIMENSION, EPSILON = 10, 1.0
REWARDS = Interval(-0.5, 1.0)


class Memo(NamedTuple):
    directions: jax.Array
    key: jax.Array


@configuration("shared")
class NoiseOnRewards:
    """Two-point descent that hears two noisy rewards instead of a slope. The key of the noise travels in the memo."""

    descent: SlopeDescent
    channel: Any
    shared: bool

    def init(self) -> Any:
        return self.descent.init()

    def ask(self, state: Any, key: Key) -> Offer:
        offer = self.descent.ask(state, key)
        return Offer(offer.public, Memo(offer.memo, sealed(key)))

    def tell(self, state: Any, memo: Memo, estimate: jax.Array) -> Any:
        keys = jax.random.split(unsealed(memo.key))
        messages = (estimate - REWARDS.middle) / REWARDS.half
        heard = [self.channel.draw(messages[i : i + 1], keys[0 if self.shared else i])[0] for i in range(2)]
        noisy = estimate + (heard[0] - messages[0]) * REWARDS.half if self.shared else jnp.stack(heard) * REWARDS.half
        slope = (noisy[0] - noisy[1]) / (2 * self.descent.explore)
        return self.descent.tell(state, memo.directions, slope)


class LoudUser:
    """Sends both rewards in the clear; the noise is added where the experiment can see it."""

    def act(self, public: Any, context: Any, entropy: Any) -> Any:
        return public

    def message(self, public: Any, context: Any, action: Any, reward: Any) -> Any:
        return reward


def run(design: str, rounds: int, seeds: int) -> Trace:
    """One design in the world of experiments/two_point.toml."""
    world = world_of("absolute", dimension=DIMENSION, steepness=1.0)
    how = {"rounds": rounds, "seeds": seeds}
    contract = task("two-point", dimension=DIMENSION, rounds=rounds, epsilon=EPSILON)
    if design == "the slope":
        learner, user, mechanism = halves(contract)
        return simulate(learner, user, world, mechanism=mechanism, **how)
    shared = design == "the same noise on both rewards"
    mechanism = calibrate("levels", REWARDS, budget(EPSILON if shared else EPSILON / 2))
    descent = halves(contract, private=False).learner if shared else _far_apart(noise_of(mechanism).variance, rounds)
    learner = NoiseOnRewards(descent=descent, channel=channel_of(mechanism), shared=shared)
    return simulate(learner, LoudUser(), world, mechanism=None, **how)


def _far_apart(variance: float, rounds: int) -> SlopeDescent:
    """The best that design can do: the distance that balances noise and bias, as in `learners.convex.one_point`."""
    d = DIMENSION
    explore = min(rounds**-0.25 * np.sqrt(d * np.sqrt(variance / 2) / 3), 0.5)
    rate = 1 / (d * np.sqrt(variance / (2 * explore**2)) * np.sqrt(rounds))
    learner = halves(task("two-point", dimension=d, rounds=rounds, epsilon=EPSILON)).learner
    numbers = {"region": learner.region, "strength": 0.0, "offset": 0.0, "directions": 1, "design": "sphere"}
    return SlopeDescent(**numbers, explore=float(explore), rate=float(rate))


DESIGNS = {
    "the slope": "#0b6e4f",
    "its own noise on each reward": "#b23a48",
    "the same noise on both rewards": "#2b2d42",
}
PROMISES = {
    "the slope": "epsilon 1",
    "its own noise on each reward": "epsilon 1, by halves",
    "the same noise on both rewards": "nothing",
}


def main() -> None:
    """Print a row per design and draw the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 rounds, 4 seeds")
    rounds, seeds = (1_000, 4) if parser.parse_args().quick else (16_000, 8)
    figure, panel = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
    print(f"{'what gets the noise':32}{'promise':>22}{'regret':>10}")
    for design, colour in DESIGNS.items():
        trace = run(design, rounds, seeds)
        mean = trace.regret.mean(axis=0)
        print(f"{design:32}{PROMISES[design]:>22}{mean[-1]:10,.0f}", flush=True)
        panel.plot(trace.rounds, mean, color=colour, linewidth=2, label=f"{design}: {PROMISES[design]}")
    panel.set(xscale="log", yscale="log", xlabel="rounds (people)", ylabel="cumulated regret")
    panel.plot(trace.rounds, trace.rounds * 0.5, color="#8d99ae", linestyle=":", label="never moving")
    panel.set_title("Two points, ten dimensions: what gets the noise", loc="left", fontweight="bold", fontsize=11)
    panel.grid(alpha=0.25, linewidth=0.6)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, fontsize=9)
    target = Path("results/rejected_designs.png")
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target, dpi=160)
    print(f"figure: {target}")


if __name__ == "__main__":
    main()
