"""Is this contract one that the owner accepts? Everything is recomputed here; nothing is believed."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime

from sottovoce.catalogue.resolve import mechanism_from
from sottovoce.catalogue.task import algorithm_of
from sottovoce.client.ledger import Limits
from sottovoce.privacy.accounting import Ledger
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.contract import DAY, Contract, features_of
from sottovoce.protocol.errors import BrokenPromise, BudgetExhausted, ConfigurationError, ContractRefused
from sottovoce.protocol.wire import TaskDocument
from sottovoce.users import LocalUser, user_of
from sottovoce.users.outcomes import Outcomes, outcomes_of

YEAR = 366 * DAY


@dataclass(frozen=True)
class Terms:
    """An accepted contract, and what a device needs to keep it."""

    contract: Contract
    user: LocalUser
    outcomes: Outcomes
    mechanisms: tuple[Mechanism, ...]
    """One per gate, each verified."""
    gate: int
    """The one that this device answers through."""

    @property
    def mechanism(self) -> Mechanism:
        return self.mechanisms[self.gate]

    @property
    def contextual(self) -> bool:
        return self.contract.offers == "model"


def authentic(document: TaskDocument, task: str) -> Contract:
    """The contract of this document, if it is the one that was asked for and has the hash it claims."""
    contract = document.contract
    if contract.id != task:
        raise ContractRefused(f"the server answered with task {contract.id!r}, not {task!r}")
    if contract.digest() != document.digest:
        raise ContractRefused(f"the contract of {task!r} does not have the digest {document.digest!r}")
    return contract


def accept(contract: Contract, limits: Limits, epsilon: float | None = None) -> Terms:
    """The terms on which this device answers, or `ContractRefused`."""
    try:
        _check(contract)
        user = user_of(contract.task)
        mechanisms = tuple(mechanism_from(contract.task, gate) for gate in contract.gates)
        outcomes = outcomes_of(contract)
    except (ConfigurationError, BrokenPromise, ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise ContractRefused(f"task {contract.id!r} cannot be kept: {error}") from error
    gate = _gate(contract, limits, epsilon)
    _affordable(contract, limits, mechanisms[gate])
    return Terms(contract, user, outcomes, mechanisms, gate)


def expired(contract: Contract, now: float) -> bool:
    """Is the last day of this task over, everywhere in the sense of UTC?"""
    return datetime.fromtimestamp(now, UTC).date() > contract.expires


def _check(contract: Contract) -> None:
    """What `contract_of` always gives; a server that sends something else is not followed."""
    algorithm, reward = algorithm_of(contract.task.learner), contract.reward
    contextual = algorithm.actions == "features"
    claims = {
        "the learner has its user": contract.task.user == algorithm.user,
        "a model is for features, tickets for the rest": contextual == (contract.offers == "model"),
        "the features fit the task": contextual == bool(contract.fields)
        and (not contextual or features_of(contract) == contract.task.dimension),
        "actions are named or candidates counted": not contextual or bool(contract.actions) ^ (contract.candidates > 0),
        "names fit the arms": contextual or len(contract.actions) == contract.task.arms,
        "the reward has a finite range and its default is in it": -math.inf < reward.low < reward.high < math.inf
        and reward.low <= reward.default <= reward.high,
        "waiting takes less than a year": all(0 <= wait < YEAR for wait in (reward.wait, contract.delay)),
        "a window has days": contract.limit.window_days >= 1,
        "there is a gate": bool(contract.gates),
    }
    for claim, true in claims.items():
        if not true:
            raise ContractRefused(f"task {contract.id!r} breaks a rule: {claim}")


def _gate(contract: Contract, limits: Limits, epsilon: float | None) -> int:
    """The loudest gate within the owner's limits, and within `epsilon` where it is given."""
    most = limits.epsilon if epsilon is None else min(epsilon, limits.epsilon)
    allowed = [
        index for index, gate in enumerate(contract.gates) if gate.epsilon <= most and gate.delta <= limits.delta
    ]
    if not allowed:
        quietest = min(Budget(gate.epsilon, gate.delta) for gate in contract.gates)
        raise ContractRefused(
            f"task {contract.id!r} asks for {quietest} a report at least; this device allows "
            f"{Budget(most, limits.delta)}"
        )
    return max(allowed, key=lambda index: contract.gates[index].epsilon)


def _affordable(contract: Contract, limits: Limits, mechanism: Mechanism) -> None:
    """One report must fit an empty ledger; otherwise there would never be any."""
    limit = contract.limit
    try:
        Ledger(Budget(limits.lifetime, limits.lifetime_delta)).spend(mechanism)
        Ledger(Budget(limit.window, limit.lifetime_delta)).spend(mechanism)
    except BudgetExhausted as error:
        raise ContractRefused(f"task {contract.id!r} could never be answered: {error}") from error
