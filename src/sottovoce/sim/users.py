"""The user of a task, for simulations: a device gets its user from a contract instead."""

from sottovoce.catalogue.task import Task
from sottovoce.privacy.domains import domain_from
from sottovoce.protocol.links import link_of
from sottovoce.users import LocalUser
from sottovoce.users import user_of as user_of_kind


def user_of(task: Task) -> LocalUser:
    """The user that a task declares.

    >>> from sottovoce import task
    >>> user_of(task("tsallis-inf", arms=3, rounds=10, epsilon=1.0))
    ScalarUser(domain=Interval(low=0.0, high=1.0))
    """
    return user_of_kind(task.user, domain_from(task.domain), link_of(task.tuning) if "link" in task.tuning else None)
