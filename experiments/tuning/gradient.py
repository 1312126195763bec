"""How the numbers of the private gradient learner were chosen: eleven worlds, none of them that of a benchmark.

    python experiments/tuning/gradient.py            all worlds, 30,000 rounds, 12 seeds
    python experiments/tuning/gradient.py --quick    a short look, to see that it works

Step, recency and exploration vary. The choice is judged by the geometric mean over the worlds of the regret in units of
that of uniform play. No exploration is a little better on average; some is kept because it lowers the regret where
everybody sees the same actions and reports are clear (the last three worlds).
"""

from typing import NamedTuple

from choices import compare

from sottovoce import halves, task
from sottovoce.catalogue.task import Task
from sottovoce.learners import uniform_of
from sottovoce.sim.halves import user_of
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.sim.worlds import world_of

SEED = 200
"""Other seeds than those of the benchmarks."""


class Choice(NamedTuple):
    step: float
    recency: float
    explore: float


class Place(NamedTuple):
    link: str
    dimension: int
    arms: int
    contexts: str
    epsilon: float

    def __str__(self) -> str:
        return f"{self.link}, d {self.dimension}, {self.arms} arms, {self.contexts}, epsilon {self.epsilon:g}"


CHOICES = [
    Choice(2.0, 10.0, 0.005),
    Choice(2.0, 10.0, 0.0),
    Choice(2.0, 10.0, 0.02),
    Choice(2.0, 3.0, 0.005),
    Choice(1.0, 10.0, 0.02),
    Choice(4.0, 10.0, 0.00125),
]
"""The first is the preset's."""

PLACES = [
    Place("logistic", 2, 5, "isotropic", 1.0),
    Place("probit", 6, 20, "isotropic", 2.0),
    Place("logistic", 4, 6, "fixed", 2.0),
    Place("probit", 5, 12, "fixed", 3.0),
    Place("logistic", 8, 8, "ill-conditioned", 4.0),
    Place("poisson", 4, 6, "isotropic", 2.0),
    Place("identity", 5, 8, "fixed", 2.0),
    Place("logistic", 5, 7, "adversarial", 2.0),
    Place("logistic", 3, 20, "fixed", 10.0),
    Place("identity", 8, 12, "fixed", 8.0),
    Place("probit", 6, 10, "fixed", 4.0),
]


def regrets(place: Place, rounds: int, seeds: int) -> list[float]:
    """Mean regret of every choice in one world, in units of uniform play: the same visitors for all of them."""
    contracts = [_contract(place, choice, rounds) for choice in CHOICES]
    name = "linear" if place.link == "identity" else place.link
    world = world_of(name, arms=place.arms, dimension=place.dimension, contexts=place.contexts)
    run = {"rounds": rounds, "seeds": seeds, "seed": SEED, "checkpoints": 10}
    traces = simulate_grid([_case(contract) for contract in contracts], user_of(contracts[0]), world, **run)
    (uniform,) = simulate_grid([Case(uniform_of(contracts[0]), None)], user_of(contracts[0]), world, **run)
    return [float(trace.regret[:, -1].mean() / uniform.regret[:, -1].mean()) for trace in traces]


def _contract(place: Place, choice: Choice, rounds: int) -> Task:
    shape = {"arms": place.arms, "dimension": place.dimension, "rounds": rounds, "epsilon": place.epsilon}
    return task("gradient", **shape, link=place.link, **choice._asdict())


def _case(contract: Task) -> Case:
    learner, _, mechanism = halves(contract)
    return Case(learner, mechanism)


if __name__ == "__main__":
    compare(__doc__, "share of uniform regret", CHOICES, PLACES, regrets, rounds=30_000, seeds=12, form=".1%")
