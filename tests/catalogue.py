"""Every learner of the registry in every preset, ready to run."""

from typing import NamedTuple

from sottovoce.core.task import Task, algorithms, task
from sottovoce.learners.base import Learner
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.sim.halves import halves
from sottovoce.sim.worlds import world_of
from sottovoce.sim.worlds.base import World
from sottovoce.users import LocalUser


class Ready(NamedTuple):
    task: Task
    learner: Learner
    user: LocalUser
    world: World
    mechanism: Mechanism | None


def ready(learner: str, preset: str = "practical", *, private: bool = True, epsilon: float = 4.0, **numbers) -> Ready:
    """A learner with its user in a world of its kind."""
    contextual = algorithms()[learner].contextual
    numbers = {"arms": 4, "rounds": 400, "dimension": 3 if contextual else 0} | numbers
    contract = task(learner, preset, epsilon=epsilon, **numbers)
    world = world_of("linear" if contextual else "arms", arms=contract.arms, dimension=contract.dimension)
    learner_half, user, mechanism = halves(contract, private=private)
    return Ready(contract, learner_half, user, world, mechanism)


PRESETS = [(name, preset) for name, algorithm in algorithms().items() for preset in algorithm.presets]
