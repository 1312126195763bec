"""From names to the gates they declare: a task's domain and mechanism, and a task file's whole contract."""

from sottovoce.catalogue.task import Task, algorithm_of, task
from sottovoce.catalogue.task_file import TaskFile, check_file, limit_of, seconds
from sottovoce.privacy import mechanisms
from sottovoce.privacy.domains import Domain, domain_from
from sottovoce.privacy.mechanisms import Mechanism, calibrate, numbers_of, verify
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.contract import Contract, Gate, RewardTerms, features_of
from sottovoce.protocol.errors import ConfigurationError

QUIETER = (0.5, 0.25)
"""Shares of the task's epsilon that a device may choose instead, where the file does not say."""


def domain_of(task: Task) -> Domain:
    """The domain that a task declares.

    >>> from sottovoce import task
    >>> domain_of(task("tsallis-inf", arms=3, rounds=10, epsilon=1.0))
    Interval(low=0.0, high=1.0)
    """
    return domain_from(task.domain)


def mechanism_of(task: Task) -> Mechanism:
    """The calibrated mechanism that a task declares.

    >>> from sottovoce import task
    >>> mechanism_of(task("tsallis-inf", arms=3, rounds=10, epsilon=1.0)).levels
    2
    """
    if task.mechanism == "none":
        raise ConfigurationError(f"{task.learner} hears raw data; it exists in simulation only")
    return calibrate(task.mechanism, domain_of(task), task.budget, task.formula)


# --- gates: mechanisms as they travel in a contract ------------------------------------------------------------------


def gate_of(mechanism: Mechanism) -> Gate:
    """The mechanism's own integers; its kind and its domain stand in the task.

    >>> from sottovoce import task
    >>> gate_of(mechanism_of(task("tsallis-inf", arms=3, rounds=10, epsilon=1.0))).numbers
    {'levels': 2, 'keep': 2850325, 'flip': 1048576}
    """
    return Gate(epsilon=mechanism.budget.epsilon, delta=mechanism.budget.delta, numbers=numbers_of(mechanism))


def mechanism_from(task: Task, gate: Gate) -> Mechanism:
    """The mechanism that a contract describes, verified: its integers keep the gate's budget, or it is refused."""
    return mechanisms.mechanism_from(task.mechanism, domain_of(task), Budget(gate.epsilon, gate.delta), gate.numbers)


# --- the whole contract ----------------------------------------------------------------------------------------------


def contract_of(file: TaskFile) -> Contract:
    """The contract that a task file declares; refuses what cannot work or does not keep its promise."""
    check_file(file)
    contextual = algorithm_of(file.learner).actions == "features"
    resolved = task(
        file.learner,
        file.preset,
        arms=file.candidates or len(file.actions),
        dimension=features_of(file) if contextual else file.dimension,
        rounds=file.horizon,
        epsilon=file.privacy.epsilon,
        delta=file.privacy.delta,
        region=file.region,
        **file.tuning,
    )
    reward = file.reward
    return Contract(
        id=file.id,
        title=file.title,
        offers="model" if contextual else "tickets",
        task=resolved,
        actions=file.actions,
        candidates=file.candidates,
        fields=file.fields,
        gates=tuple(gate_of(mechanism) for mechanism in _mechanisms(file, resolved)),
        limit=limit_of(file.privacy),
        reward=RewardTerms(low=reward.low, high=reward.high, default=reward.default, wait=seconds(reward.wait)),
        publish_every=file.publish_every or max(1, file.horizon // 200),
        delay=seconds(file.delay),
        expires=file.expires,
        retention=seconds(file.retention),
    )


def _mechanisms(file: TaskFile, resolved: Task) -> list[Mechanism]:
    full = mechanism_of(resolved)
    quieter = file.privacy.quieter
    weighs = algorithm_of(file.learner).weighs
    if quieter and not weighs:
        raise ConfigurationError(f"{file.learner} cannot weigh reports; leave privacy.quieter out, or say quieter = []")
    chosen = tuple(share * resolved.epsilon for share in QUIETER if weighs) if quieter is None else quieter
    if any(not 0 < epsilon < resolved.epsilon for epsilon in chosen):
        raise ConfigurationError(f"quieter budgets lie between 0 and {resolved.epsilon:g}, got {list(chosen)}")
    budgets = [Budget(epsilon, resolved.delta) for epsilon in sorted(chosen, reverse=True)]
    every = [full, *(calibrate(resolved.mechanism, full.domain, spent, resolved.formula) for spent in budgets)]
    for mechanism in every:
        verify(mechanism)
    return every
