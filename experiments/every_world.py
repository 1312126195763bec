"""The default beside every other private learner of ours, in thirteen worlds: the last table of docs/defaults.md.

    python experiments/every_world.py --movielens PATH    all of it: about half an hour on two cores
    python experiments/every_world.py --world iris        only this one; --world may be repeated
    python experiments/every_world.py --quick             a short look, to see that it works

Which learner is the default follows from what a task declares (`default_learner`): `kl-moss` where a few actions are
the same for all, `scale-free` where candidates or people have features (told that one is right where that is so),
`linucb` where a few sets of candidates return. None of these worlds had a part in choosing a constant. Mean regret of
eight seeds after 100,000 people; `times the best` is the regret of the default in units of the best private learner of
the row, itself among them.
"""

import argparse
import dataclasses
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sottovoce import Task, halves, task
from sottovoce.catalogue.algorithms import default_learner
from sottovoce.learners import uniform_of
from sottovoce.learners.base import configuration
from sottovoce.sim.random import simulation_key
from sottovoce.sim.run import simulate
from sottovoce.sim.worlds import world_of
from sottovoce.sim.worlds.arms import Arms
from sottovoce.sim.worlds.base import Drawn, World

EPSILONS = (1.0, 4.0, 8.0)
SEEDS = 8
EARLY = 10
"""One tenth of the people: from there on the default may not be worse than uniform play."""
FEATURES = ("scale-free", "linucb", "gradient", "linucb paper", "glm paper")
"""`glm practical` has the curves of `gradient practical`."""
ARMS = (
    "kl-moss",
    "thompson",
    "kl-ucb-plus-plus",
    "kl-ucb",
    "ucb",
    "tsallis-inf",
    "exp3",
    "ucb bubeck-cesa-bianchi",
    "thompson agrawal-goyal",
)
WIDE = 20
"""Coordinates."""
VISITS = 20_000
"""People of whom the best fixed action is found, for each of two seeds."""


class Row(NamedTuple):
    """A world, and what a task in it would tell its learner."""

    world: World
    shape: dict[str, int]
    learners: tuple[str, ...]
    told: dict[str, Any]
    as_arms: World | None = None
    """The same world for learners of arms, where everybody sees the same candidates."""
    returning: bool = False
    """Does the task say that a few sets of candidates come again and again?"""

    @property
    def default(self) -> str:
        return default_learner("arms" if self.learners[0] in ARMS else "features", returning=self.returning)


@configuration("arms", "dimension")
class SameForAll(Arms):
    """The world `linear` with fixed contexts as one of arms; the regret is on the scale of that world, -1 to 1."""

    dimension: int
    rewards: Drawn = None

    def sample(self, key: jax.Array) -> "SameForAll":
        drawn: Any = world_of("linear", arms=self.arms, dimension=self.dimension, contexts="fixed")
        drawn = drawn.sample(key)
        return dataclasses.replace(self, rewards=(1 + drawn.actions @ drawn.theta) / 2)

    def regret(self, context: jax.Array, action: jax.Array) -> jax.Array:
        return 2 * super().regret(context, action)


def rows(movielens: str) -> dict[str, Row]:
    """Every world, by name."""

    def contextual(name: str, arms: int, dimension: int, told: dict[str, Any] | None = None, **options: Any) -> Row:
        shape = {"arms": arms, "dimension": dimension}
        return Row(world_of(name, **shape, **options), shape, FEATURES, {"link": "identity"} | (told or {}))

    def table(name: str, arms: int, dimension: int) -> Row:
        return contextual("table", arms, dimension, {"named": 0.0, "contrast": 0.0}, path=name)

    def few(arms: int, **options: Any) -> Row:
        return Row(world_of("arms", arms=arms, **options), {"arms": arms}, ARMS, {})

    logistic = {"link": "logistic"}
    same = contextual("linear", 10, 5, contexts="fixed")
    every = {
        "isotropic, d = 5": contextual("linear", 10, 5),
        "isotropic, d = 20": contextual("linear", 20, 20),
        "ill-conditioned, d = 10": contextual("linear", 10, 10, contexts="ill-conditioned"),
        "adversarial, d = 6": contextual("linear", 5, 6, contexts="adversarial")._replace(returning=True),
        "logistic, d = 5": contextual("logistic", 10, 5, logistic),
        "logistic, ill-conditioned, d = 8": contextual("logistic", 10, 8, logistic, contexts="ill-conditioned"),
        "the same 10 for everybody": same._replace(learners=ARMS + FEATURES, as_arms=SameForAll(arms=10, dimension=5)),
        "5 arms": few(5),
        "20 arms": few(20, gap=0.3, alpha=0.6, reward=0.1),
        "iris": table("iris", 3, 15),
        "wine": table("wine", 3, 42),
        "breast_cancer": table("breast_cancer", 2, 62),
    }
    if movielens:
        every["MovieLens"] = contextual("movielens", 20, 20, path=movielens, rotate=0)
    return every


def declared(row: Row, learner: str, rounds: int, epsilon: float) -> Task:
    """The task for a learner, "name" or "name preset"; it is told what it can make use of."""
    name, _, preset = learner.partition(" ")
    known = task(name, arms=2, dimension=0 if name in ARMS else 2, rounds=2, epsilon=1.0).tuning
    told = {number: value for number, value in row.told.items() if number in known}
    shape = {"arms": row.shape["arms"]} if name in ARMS else row.shape
    return task(name, preset or "practical", **shape, rounds=rounds, epsilon=epsilon, **told)


def regrets(row: Row, learner: str, rounds: int) -> np.ndarray:
    """Regret of a learner: budgets by seeds by tenths of the run."""
    both = [halves(declared(row, learner, rounds, epsilon)) for epsilon in EPSILONS]
    world = row.as_arms if row.as_arms is not None and learner in ARMS else row.world
    run = {"rounds": rounds, "seeds": SEEDS, "checkpoints": EARLY, "publish_every": rhythm(row)}
    traces = [simulate(half.learner, half.user, world, mechanism=half.mechanism, **run) for half in both]
    return np.array([trace.regret for trace in traces])


def rhythm(row: Row) -> int:
    """Reports between two models: in a wide world a paper preset would solve for one after every report."""
    return 1 if row.shape.get("dimension", 0) <= WIDE else 100


def without_reports(row: Row, rounds: int) -> dict[str, Any]:
    """The default without privacy and uniform play, seeds by tenths; and the best fixed action."""
    world = row.as_arms if row.as_arms is not None else row.world
    asked = declared(row, row.default, rounds, 1.0)
    plain, run = halves(asked, private=False), {"rounds": rounds, "seeds": SEEDS, "checkpoints": EARLY}
    run["publish_every"] = rhythm(row)
    limit = simulate(plain.learner, plain.user, world, mechanism=None, **run)
    uniform = simulate(uniform_of(asked), plain.user, world, mechanism=None, **run)
    return {"limit": limit.regret, "uniform": uniform.regret, "fixed": best_fixed(world, row.shape["arms"]) * rounds}


def best_fixed(world: Any, arms: int) -> float:
    """What the best action that is the same for everybody loses in a round, mean over two seeds."""
    lost = []
    with jax.enable_x64(True):
        for seed in range(2):
            key = simulation_key(seed)
            drawn = world.sample(key) if hasattr(world, "sample") else world
            visit = lambda round, key, drawn=drawn: jax.vmap(  # noqa: E731
                lambda arm: drawn.regret(drawn.visit(round, key), arm)
            )(jnp.arange(arms))
            people = jnp.arange(VISITS), jax.random.split(key, VISITS)
            lost.append(float(jnp.min(jnp.mean(jax.jit(jax.vmap(visit))(*people), axis=0))))
    return float(np.mean(lost))


def lines(name: str, row: Row, rounds: int) -> Iterator[str]:
    """One line for each budget."""
    found = {learner: regrets(row, learner, rounds) for learner in row.learners}
    default, beside = row.default, without_reports(row, rounds)
    for place, epsilon in enumerate(EPSILONS):
        means = {learner: float(one[place, :, -1].mean()) for learner, one in found.items()}
        early = float(found[default][place, :, 0].mean()) / float(beside["uniform"][:, 0].mean())
        cells = " ".join(f"{learner} {mean:,.0f};" for learner, mean in means.items())
        yield f"{name}, epsilon {epsilon:g}: {means[default] / min(means.values()):.2f} times the best. {cells}"
        plain, uniform = (beside[who][:, -1].mean() for who in ("limit", "uniform"))
        yield (
            f"    without privacy {plain:,.0f}; uniform {uniform:,.0f}; best fixed action {beside['fixed']:,.0f}; "
            f"after a tenth of the people {early:.2f} of uniform"
        )


def main() -> None:
    """Print the worlds as they are done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--movielens", default="", metavar="PATH", help="ratings of MovieLens 100K")
    parser.add_argument("--world", action="append", help="only these")
    parser.add_argument("--quick", action="store_true", help="1,000 rounds instead of 100,000")
    options = parser.parse_args()
    rounds, every = 1_000 if options.quick else 100_000, rows(options.movielens)
    for name in options.world or every:
        start = time.perf_counter()
        for line in lines(name, every[name], rounds):
            print(line, flush=True)
        print(f"    {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
