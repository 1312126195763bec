"""How the numbers of LinUCB's practical preset were chosen: seven worlds, none of them that of a published benchmark.

    python experiments/tuning/linucb.py            all worlds, 50,000 rounds, 16 seeds
    python experiments/tuning/linucb.py --quick    a short look, to see that it works

Ridge and bonus vary; the first `warm` rounds and the `growth` between models stay those of the preset. The choice is
judged by the geometric mean of the regret over the worlds, so that no world counts more because its regret is larger.
"""

from typing import NamedTuple

from choices import compare

from sottovoce import halves, task
from sottovoce.catalogue.task import Task
from sottovoce.sim.halves import user_of
from sottovoce.sim.run import Case, simulate_grid
from sottovoce.sim.worlds import world_of


class Choice(NamedTuple):
    ridge: float
    bonus: float


class Place(NamedTuple):
    dimension: int
    arms: int
    contexts: str
    epsilon: float

    def __str__(self) -> str:
        return f"d {self.dimension}, {self.arms} arms, {self.contexts}, epsilon {self.epsilon:g}"


CHOICES = [Choice(1.0, 0.3), Choice(1.0, 0.1), Choice(1.0, 0.2), Choice(2.0, 0.2), Choice(2.0, 0.3), Choice(0.5, 0.2)]
"""The first is the preset's."""

PLACES = [
    Place(8, 5, "isotropic", 2.0),
    Place(3, 20, "fixed", 2.0),
    Place(8, 10, "fixed", 4.0),
    Place(6, 8, "ill-conditioned", 2.0),
    Place(12, 6, "isotropic", 6.0),
    Place(4, 5, "fixed", 1.0),
    Place(10, 10, "ill-conditioned", 6.0),
]


def regrets(place: Place, rounds: int, seeds: int) -> list[float]:
    """Mean regret of every choice in one world: one compiled loop, the same visitors for all of them."""
    contracts = [_contract(place, choice, rounds) for choice in CHOICES]
    traces = simulate_grid(
        [_case(contract) for contract in contracts],
        user_of(contracts[0]),
        world_of("linear", arms=place.arms, dimension=place.dimension, contexts=place.contexts),
        rounds=rounds,
        seeds=seeds,
        checkpoints=10,
    )
    return [float(trace.regret[:, -1].mean()) for trace in traces]


def _contract(place: Place, choice: Choice, rounds: int) -> Task:
    shape = {"arms": place.arms, "dimension": place.dimension, "rounds": rounds, "epsilon": place.epsilon}
    return task("linucb", **shape, **choice._asdict())


def _case(contract: Task) -> Case:
    learner, _, mechanism = halves(contract)
    return Case(learner, mechanism)


if __name__ == "__main__":
    compare(__doc__, "regret", CHOICES, PLACES, regrets, rounds=50_000, seeds=16, form=",.0f")
