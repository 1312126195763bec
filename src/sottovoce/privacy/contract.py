"""From a task's names to the gate it declares: its domain and its calibrated mechanism."""

from sottovoce.core.errors import ConfigurationError, UnknownName
from sottovoce.core.task import Task
from sottovoce.privacy.calibration import calibrate
from sottovoce.privacy.domains import DOMAINS, Domain
from sottovoce.privacy.mechanisms import Mechanism


def domain_of(task: Task) -> Domain:
    """The domain that a task declares.

    >>> from sottovoce import task
    >>> domain_of(task("tsallis-inf", arms=3, rounds=10, epsilon=1.0))
    Interval(low=0.0, high=1.0)
    """
    numbers = dict(task.domain)
    kind = str(numbers.pop("kind"))
    if kind not in DOMAINS:
        raise UnknownName("domain", kind, DOMAINS)
    return DOMAINS[kind](**numbers)


def mechanism_of(task: Task) -> Mechanism:
    """The calibrated mechanism that a task declares.

    >>> from sottovoce import task
    >>> mechanism_of(task("tsallis-inf", arms=3, rounds=10, epsilon=1.0)).levels
    2
    """
    if task.mechanism == "none":
        raise ConfigurationError(f"{task.learner} hears raw data; it exists in simulation only")
    return calibrate(task.mechanism, domain_of(task), task.budget, task.formula)
