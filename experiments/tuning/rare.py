"""Worlds in which nearly everybody gives the lowest reward, and what the preset `rare` of scale-free is worth there.

Actions have names, and people bring fields. The chance of a reward is a logistic function of the fields, another one
for each action: clicks of 3 in a hundred people among four actions, and of 4 in a hundred among eight; revenue, where 5
in a hundred buy something and the amounts are skewed; and clicks of 43 in a hundred, where nothing is rare.

Prints the share of the way from uniform play to the best action of each person, in the second half of 100,000 people:
the presets `practical` and `rare` at epsilon 1, 4 and 8 and without privacy, and always the best fixed action. Mean and
standard error over eight draws of each world. There are 200 models, as many as a task published when these were chosen.

    python experiments/tuning/rare.py                           all of it
    python experiments/tuning/rare.py --world clicks            only this world; --world may be repeated
    python experiments/tuning/rare.py --tune least=0.3          another number of the preset `rare`; may be repeated
    python experiments/tuning/rare.py --models 100000           a model after every report
    python experiments/tuning/rare.py --quick                   1,000 people, two draws: a short look
"""

import argparse
import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from sottovoce import halves, task
from sottovoce.learners.base import Key, configuration
from sottovoce.protocol.links import link_of
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.users.fields import in_blocks

EPSILONS, SEED = (1.0, 4.0, 8.0), 300
DEVIATION = 0.55
"""Of a field."""
WORLDS: dict[str, dict[str, Any]] = {
    "clicks": {"arms": 4, "fields": 4, "odds": -4.2, "spread": 1.2},
    "clicks, eight": {"arms": 8, "fields": 3, "odds": -4.2, "spread": 1.6},
    "revenue": {"arms": 4, "fields": 4, "odds": -4.0, "spread": 1.6, "amount": 0.15, "deviation": 1.0},
    "frequent clicks": {"arms": 4, "fields": 4, "odds": -0.4, "spread": 1.6},
}
"""`odds`: their logarithm for an average person; `spread`: its deviation. `amount`: the mean one, of the largest."""


@configuration("arms", "fields")
class Rewarded:
    """Each action gives a person some reward with a chance of its own, else the lowest."""

    arms: int
    fields: int
    theta: Any
    amount: float
    deviation: float
    """Of the logarithm of an amount; 0 for a click."""
    low: float = 0.0
    """The lowest reward; the highest is 1."""

    def visit(self, round: jax.Array, key: Key) -> jax.Array:
        return jnp.clip(0.6 * jax.random.normal(key, (self.fields,)), -1.0, 1.0)

    def shown(self, context: jax.Array) -> jax.Array:
        return in_blocks(jnp, self.arms, _with_one(context) / math.sqrt(1 + self.fields))

    def means(self, context: jax.Array) -> jax.Array:
        return self.low + (1 - self.low) * self.amount * self._chances(context)

    def outcome(self, context: jax.Array, action: jax.Array, key: Key) -> jax.Array:
        first, second = jax.random.split(key)
        amount = self.amount * jnp.exp(self.deviation * jax.random.normal(second) - self.deviation**2 / 2)
        some = jax.random.uniform(first) < self._chances(context)[action]
        return jnp.where(some, self.low + (1 - self.low) * jnp.minimum(amount, 1.0), self.low)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        means = self.means(context)
        return jnp.max(means) - means[action]

    def _chances(self, context: jax.Array) -> jax.Array:
        return jax.nn.sigmoid(jnp.asarray(self.theta) @ _with_one(context))


def _with_one(context: jax.Array) -> jax.Array:
    return jnp.concatenate([jnp.ones(1), context])


def drawn(name: str, which: int) -> Rewarded:
    numbers = {"amount": 1.0, "deviation": 0.0} | WORLDS[name]
    odds, spread, fields = numbers.pop("odds"), numbers.pop("spread"), numbers["fields"]
    draw = np.random.default_rng([which, *map(ord, name)])
    own = odds + 0.3 * draw.normal(size=(numbers["arms"], 1))
    theta = np.hstack([own, spread / DEVIATION / math.sqrt(fields) * draw.normal(size=(numbers["arms"], fields))])
    return Rewarded(theta=theta, **numbers)


def learned(world: Rewarded, preset: str, people: int, models: int, tuned: dict[str, float]) -> list[float]:
    """The share at every budget and without privacy, then that of the best fixed action."""
    shape: dict[str, Any] = {"arms": world.arms, "dimension": world.arms * (1 + world.fields), "rounds": people}
    numbers = {"named": 1.0, "contrast": 0.0} | tuned
    declared = [task("scale-free", preset, **shape, epsilon=epsilon, **numbers) for epsilon in EPSILONS]
    every, plain = [halves(one) for one in declared], halves(declared[0], private=False)
    world = dataclasses.replace(world, low=link_of(declared[0].tuning).low)
    run = {"rounds": people, "seeds": 1, "seed": SEED, "publish_every": max(1, people // models), "checkpoints": 2}
    traces = simulate_grid([Case(half.learner, half.mechanism) for half in every], every[0].user, world, **run)
    traces += simulate_grid([Case(plain.learner, None)], plain.user, world, **run)
    lost = [float(trace.regret[0, 1] - trace.regret[0, 0]) / (people - people // 2) for trace in traces]
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(SEED), 20_000)
        means = np.asarray(jax.vmap(lambda key: world.means(world.visit(jnp.asarray(0), key)))(keys))
    best = means.max(axis=1).mean()
    return [1 - one / (best - means.mean()) for one in [*lost, best - means.mean(axis=0).max()]]


def main() -> None:
    """Print two lines for each world."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", action="append", choices=list(WORLDS), help="only these")
    parser.add_argument("--tune", action="append", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="1,000 people, two draws")
    options = parser.parse_args()
    people, draws = (1_000, 2) if options.quick else (100_000, 8)
    tuned = {name: float(number) for name, number in (one.split("=") for one in options.tune)}
    print(f"{'':26}", *(f"{name:>14}" for name in ("epsilon 1", "4", "8", "no privacy", "best fixed")))
    for name in options.world or WORLDS:
        for preset, numbers in {"practical": {}, "rare": tuned}.items():
            found = [learned(drawn(name, which), preset, people, options.models, numbers) for which in range(draws)]
            means, errors = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / draws**0.5
            cells = [f"{mean:7.0%} ± {error:<4.0%}" for mean, error in zip(means, errors, strict=True)]
            print(f"{name:15} {preset:10}", *cells, flush=True)


if __name__ == "__main__":
    main()
