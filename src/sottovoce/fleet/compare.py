"""The same run in the simulator, many times: where does a single run of the fleet have to end?"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.catalogue.task import learning_of, task_of
from sottovoce.fleet.people import Settled
from sottovoce.protocol.contract import Contract
from sottovoce.sim.halves import halves
from sottovoce.sim.run import simulate


class Band(NamedTuple):
    """The central 99 % of single simulated runs, after so many rounds each."""

    rounds: NDArray[np.int64]
    low: NDArray[np.float64]
    mean: NDArray[np.float64]
    high: NDArray[np.float64]

    def holds(self, regret: float) -> bool:
        """Does a run that ended with this regret end within the band?"""
        return bool(self.low[-1] <= regret <= self.high[-1])


def band_of(contract: Contract, world: Any, people: int, *, seeds: int = 256, seed: int = 1) -> Band:
    """Runs of so many people in this very world, with models published as the server does and no delay."""
    learner, user, mechanism = halves(task_of(contract))
    trace = simulate(
        learner,
        user,
        Settled(world=world),
        rounds=people,
        mechanism=mechanism,
        seeds=seeds,
        seed=seed,
        publish_every=learning_of(contract).publish_every,
    )
    low, high = np.quantile(trace.regret, [0.005, 0.995], axis=0)
    return Band(trace.rounds, low, trace.regret.mean(axis=0), high)
