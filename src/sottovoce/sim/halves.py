"""Both halves of a task, put together: what only a simulation may do."""

from typing import NamedTuple

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.catalogue.task import Task
from sottovoce.learners import learner_of
from sottovoce.learners.base import Learner
from sottovoce.privacy.domains import domain_from
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.privacy.noise import no_noise
from sottovoce.sim.comparators import comparator_of
from sottovoce.sim.users import user_of
from sottovoce.users import LocalUser


class Halves(NamedTuple):
    """A learner, its user, and the mechanism between them (None: no noise, in simulation only)."""

    learner: Learner
    user: LocalUser
    mechanism: Mechanism | None


def halves(task: Task, *, private: bool = True) -> Halves:
    """The two halves that a task declares; `private=False` is the same learner told that there is no noise.

    >>> from sottovoce import task
    >>> halves(task("kl-ucb", arms=3, rounds=10, epsilon=1.0)).mechanism.levels
    2
    """
    if algorithm_of(task.learner).trust != "local":
        return Halves(*comparator_of(task), None)
    mechanism = mechanism_of(task) if private else None
    noise = mechanism.noise() if mechanism else no_noise(domain_from(task.domain))
    return Halves(learner_of(task, noise), user_of(task), mechanism)
