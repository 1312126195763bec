"""The device half: the only place with raw data. NumPy on a device, traced by JAX in the simulator, the same text."""

from typing import Any, Protocol

from sottovoce.catalogue.resolve import domain_of
from sottovoce.catalogue.task import Task
from sottovoce.protocol.errors import UnknownName
from sottovoce.protocol.links import link_of
from sottovoce.users.generalized import GeneralizedUser
from sottovoce.users.linear import LinearUser
from sottovoce.users.scalar import ScalarUser
from sottovoce.users.slope import SlopeUser

USERS: dict[str, type] = {
    "scalar": ScalarUser,
    "linear": LinearUser,
    "generalized": GeneralizedUser,
    "slope": SlopeUser,
}


class LocalUser(Protocol):
    """One person with a device."""

    def act(self, public: Any, context: Any, entropy: Any) -> Any:
        """The action, chosen locally; `entropy` is a uniform number in [0, 1)."""
        ...

    def message(self, public: Any, context: Any, action: Any, reward: Any) -> Any:
        """What is reported of a reward (larger is better), before noise; clipped and bounded by a domain's `embed`."""
        ...


def user_of(task: Task) -> LocalUser:
    """The user that a task declares.

    >>> from sottovoce import task
    >>> user_of(task("tsallis-inf", arms=3, rounds=10, epsilon=1.0))
    ScalarUser(domain=Interval(low=0.0, high=1.0))
    """
    if task.user not in USERS:
        raise UnknownName("user", task.user, USERS)
    known = {"link": link_of(task.tuning)} if "link" in task.tuning else {}
    return USERS[task.user](domain_of(task), **known)
