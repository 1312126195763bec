"""Ours, and our plain NumPy loops, in a process of its own: prints one line of JSON. Started by `learning.py`.

python benchmarks/peers/ours.py linucb/paper/private features 2000 20 5
"""

import dataclasses
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))

import jax
import jax.numpy as jnp
import numpy as np
from interval import half_width, seconds_needed
from memory import peak_megabytes
from one import FEWEST
from worlds import SHAPES

import engine
import sottovoce
from sottovoce.catalogue.task import Task
from sottovoce.learners.base import Key, configuration
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of
from sottovoce.sim.worlds.base import Drawn
from sottovoce.users.fields import in_blocks

SEEDS = 64
"""Of one batch."""
LOOPS: dict[str, Callable[[Task, int, np.random.Generator], float]] = {
    "tsallis-inf": engine.numpy_tsallis,
    "linucb": engine.numpy_linucb,
}


class Person(NamedTuple):
    features: jax.Array
    """The person's, once for each arm, in blocks."""
    means: jax.Array


@configuration("arms", "length")
class People:
    """`people` of worlds.py."""

    arms: int
    length: int
    theta: Drawn = None

    def sample(self, key: Key) -> Any:
        return dataclasses.replace(self, theta=_on_sphere(jax.random.normal(key, (self.arms, self.length))))

    def visit(self, round: jax.Array, key: Key) -> Person:
        person = _on_sphere(jax.random.normal(key, (self.length,)))
        return Person(in_blocks(jnp, self.arms, person), self.theta @ person)

    def shown(self, context: Person) -> jax.Array:
        return context.features

    def outcome(self, context: Person, action: jax.Array, key: Key) -> jax.Array:
        return jnp.where(jax.random.uniform(key) < (1 + context.means[action]) / 2, 1.0, -1.0)

    def regret(self, context: Person, action: jax.Array) -> jax.Array:
        return jnp.max(context.means) - context.means[action]


def _on_sphere(vectors: jax.Array) -> jax.Array:
    return vectors / jnp.linalg.norm(vectors, axis=-1, keepdims=True)


def world_like(name: str) -> Any:
    """The same world as in worlds.py."""
    arms, length = SHAPES[name]
    if name == "people":
        return People(arms=arms, length=length)
    return world_of("linear", arms=arms, dimension=length) if length else world_of("arms", arms=arms)


PLAIN = {"linucb": {"warm": 0.0, "bonus": 0.1, "growth": 1.0}}
"""Beside LinUCB of others: no first rounds at random, a width near 1, and a new model after every report as theirs."""


def task_for(learner: str, preset: str, world: str, rounds: int, how: str) -> Task:
    arms, length = SHAPES[world]
    tuning = PLAIN.get(learner, {}) if how == "plain" else {}
    shape = {"dimension": arms * length if world == "people" else length} if length else {}
    return sottovoce.task(learner, preset, arms=arms, rounds=rounds, epsilon=1.0, **shape, **tuning)


def compiled(task: Task, world: str, rounds: int, private: bool) -> Iterator[tuple[float, list[float]]]:
    """Seconds and regrets of one batch after the other; the first one compiles."""
    learner, user, mechanism = sottovoce.halves(task, private=private)
    for seed in range(1_000_000):
        start = time.perf_counter()
        run = {"rounds": rounds, "seeds": SEEDS, "seed": seed, "checkpoints": 1}
        trace = simulate(learner, user, world_like(world), mechanism=mechanism, **run)
        yield time.perf_counter() - start, trace.regret[:, -1].tolist()


def by_hand(task: Task, rounds: int) -> Iterator[tuple[float, list[float]]]:
    """The same of a plain loop, one seed after the other."""
    for seed in range(1_000_000):
        start = time.perf_counter()
        regret = LOOPS[task.learner](task, rounds, np.random.default_rng(seed))
        yield time.perf_counter() - start, [regret]


def measured(who: str, world: str, rounds: int, limit: float, percent: float) -> dict[str, Any]:
    """Batches until the interval is narrow enough, and at least two: the first is not counted in the speed."""
    learner, preset, how = who.split("/")
    task = task_for(learner, preset, world, rounds, how)
    batches = by_hand(task, rounds) if how == "loop" else compiled(task, world, rounds, how == "private")
    seconds, regrets, needed = [], [], None
    for spent, regret in batches:
        seconds.append(spent)
        regrets += regret
        if needed is None and len(regrets) >= FEWEST and half_width(regrets) <= percent / 100:
            needed = seconds_needed(regrets, sum(seconds), percent / 100)
        if len(seconds) > 1 and len(regrets) >= FEWEST and (needed or sum(seconds) > limit):
            break
    each = len(regrets) // len(seconds)
    return {
        "rounds_per_second": rounds * each / float(np.median(seconds[1:])),
        "regret": float(np.mean(regrets)),
        "seeds": len(regrets),
        "half_width": half_width(regrets),
        **(needed or seconds_needed(regrets, sum(seconds), percent / 100)),
        "first": seconds[0],
        "megabytes": None if how == "loop" else peak_megabytes(),
    }


def main() -> None:
    who, world, rounds, limit, percent = sys.argv[1:]
    print(json.dumps(measured(who, world, int(rounds), float(limit), float(percent))))


if __name__ == "__main__":
    main()
