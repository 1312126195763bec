"""What local privacy is compared with: learners that hear raw data. They exist in simulation only.

Trust "central": a curator hears everything and publishes with differential privacy. Trust "none": the learner itself
hears everything. No device can answer them (`privacy.contract.mechanism_of` refuses), and no server can run them.
"""

from collections.abc import Callable

from sottovoce.core.errors import UnknownName
from sottovoce.core.task import Task
from sottovoce.learners.base import Learner
from sottovoce.users import LocalUser

COMPARATORS: dict[str, Callable[[Task], tuple[Learner, LocalUser]]] = {}


def comparator_of(task: Task) -> tuple[Learner, LocalUser]:
    """The learner of this task and the user who tells it everything."""
    if task.learner not in COMPARATORS:
        raise UnknownName("comparator", task.learner, COMPARATORS)
    return COMPARATORS[task.learner](task)
