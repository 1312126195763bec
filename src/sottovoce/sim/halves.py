"""Both halves of a task, put together: what only a simulation may do."""

from typing import NamedTuple

from sottovoce import users
from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.catalogue.task import Task
from sottovoce.learners import learner_of
from sottovoce.learners.base import Learner
from sottovoce.privacy.domains import domain_from
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.privacy.noise import no_noise
from sottovoce.protocol.links import link_of
from sottovoce.sim.comparators import COMPARATORS
from sottovoce.sim.comparators.raw import RawUser


class Halves(NamedTuple):
    """A learner, its user, and the mechanism between them (None: no noise, in simulation only)."""

    learner: Learner
    user: users.LocalUser
    mechanism: Mechanism | None


def halves(task: Task, *, private: bool = True) -> Halves:
    """The two halves that a task declares; `private=False` is the same learner told that there is no noise.

    >>> from sottovoce import task
    >>> halves(task("kl-ucb", arms=3, rounds=10, epsilon=1.0)).mechanism.levels
    2
    """
    if algorithm_of(task.learner).trust != "local":
        return Halves(COMPARATORS[task.learner](task), user_of(task), None)
    mechanism = mechanism_of(task) if private else None
    noise = mechanism.noise() if mechanism else no_noise(domain_from(task.domain))
    return Halves(learner_of(task, noise), user_of(task), mechanism)


def user_of(task: Task) -> users.LocalUser:
    """The user that a task declares; a device gets its user from a contract instead.

    >>> from sottovoce import task
    >>> user_of(task("tsallis-inf", arms=3, rounds=10, epsilon=1.0))
    ScalarUser(domain=Interval(low=0.0, high=1.0))
    """
    link = link_of(task.tuning) if "link" in task.tuning else None
    if task.user == "raw":
        return RawUser(link.high if link else float(task.domain.get("reward_bound", 1.0)))
    return users.user_of(task.user, domain_from(task.domain), link)
