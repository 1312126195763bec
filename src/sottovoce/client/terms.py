"""What a server sends, checked: is its contract one that the owner accepts? Is its offer one that can be chosen by?

Everything is recomputed here; nothing is believed.
"""

import math
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sottovoce.client.ledger import Limits
from sottovoce.client.tables import HeldPermit, Pending
from sottovoce.privacy.accounting import Ledger
from sottovoce.privacy.gates import measuring_of, mechanisms_of
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.codec import from_text
from sottovoce.protocol.contract import DAY, ByModel, ByTicket, Contract, contract_from, digest_of
from sottovoce.protocol.errors import BrokenPromise, BudgetExhausted, ContractRefused, WireError
from sottovoce.protocol.holdout import Holdout, Purpose, holdout_of, purpose_of
from sottovoce.protocol.offers import MODELS, array_from
from sottovoce.protocol.permits import coin_of
from sottovoce.users import LocalUser, user_of

YEAR = 366 * DAY

EXTENSIONS: dict[str, tuple[Any, ...] | None] = {"admission": ("signed",), "holdout": None}
"""What this device knows of a contract's `extensions`: names, and for each the values; None where they are numbers."""


class Terms(NamedTuple):
    """An accepted contract, and what a device needs to keep it."""

    contract: Contract
    digest: str
    user: LocalUser
    mechanisms: tuple[Mechanism, ...]
    """One per gate, each verified."""
    gate: int
    """The one that this device answers through."""
    holdout: Holdout | None
    measuring: tuple[Mechanism, ...]
    """One per gate for reports that measure, each verified; none where nothing is held out."""

    @property
    def mechanism(self) -> Mechanism:
        return self.mechanisms[self.gate]

    def purpose_of(self, permit: HeldPermit | Pending | None) -> Purpose:
        """What the report with this permit is for."""
        return purpose_of(coin_from(permit), self.holdout.share) if self.holdout and permit else "learning"


def accept(body: bytes, task: str, limits: Limits, epsilon: float | None = None) -> Terms:
    """The terms on which this device answers the contract of this task, or `ContractRefused`."""
    try:
        contract = contract_from(body)
    except WireError as error:
        raise ContractRefused(f"the contract of {task!r} cannot be read: {error}") from error
    if contract.id != task:
        raise ContractRefused(f"the server answered with task {contract.id!r}, not {task!r}")
    _check(contract)
    try:
        mechanisms = mechanisms_of(contract)
        user = user_of(contract.offers.user, mechanisms[0].domain, contract.offers.link)
        holdout, measuring = holdout_of(contract), measuring_of(contract)
    except (BrokenPromise, WireError, ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise ContractRefused(f"task {task!r} cannot be kept: {error}") from error
    gate = _gate(contract, limits, epsilon)
    _affordable(contract, limits, mechanisms[gate])
    return Terms(contract, digest_of(body), user, mechanisms, gate, holdout, measuring)


def coin_from(permit: HeldPermit | Pending) -> bytes:
    """The coin of the report with this permit."""
    return coin_of(from_text(permit.permit), from_text(permit.nonce))


def expired(contract: Contract, now: float) -> bool:
    """Is the last day of this task over, in UTC?"""
    return datetime.fromtimestamp(now, UTC).date() > contract.expires


def _check(contract: Contract) -> None:
    """What every honest contract has; a server that sends something else is not followed."""
    reward = contract.reward
    claims = {
        "a task with a model has fields that fit it, a task with tickets has arms or points": _offers(contract),
        "the reward has a finite range and its default is in it": 0 < reward.high - reward.low < math.inf
        and reward.low <= reward.default <= reward.high,
        "messages have a finite scale for the reward": 0 < reward.unit_high - reward.unit_low < math.inf,
        "waiting takes less than a year": all(0 <= wait < YEAR for wait in (reward.wait, contract.delay)),
        "a window has days": contract.limit.window_days >= 1,
        "there is a gate": bool(contract.gates),
        "it asks for nothing that this device does not know": all(
            (values := EXTENSIONS.get(name, ())) is None or value in values
            for name, value in contract.extensions.items()
        ),
    }
    for claim, true in claims.items():
        if not true:
            raise ContractRefused(f"task {contract.id!r} breaks a rule: {claim}")


def _offers(contract: Contract) -> bool:
    match contract.offers:
        case ByModel() as offers:
            named = bool(offers.actions) ^ (offers.candidates > 0)
            fitting = offers.dimension == contract.domain.get("dimension")
            return offers.model in MODELS and bool(offers.fields) and named and fitting
        case ByTicket() as offers:
            return bool(offers.actions) ^ (offers.dimension > 0) and not (offers.actions and offers.slopes)


def _gate(contract: Contract, limits: Limits, epsilon: float | None) -> int:
    """The gate of the largest epsilon within the owner's limits, and within `epsilon` where it is given."""
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


# --- what to choose by ---------------------------------------------------------------------------------------------


def action_from(sent: Any, offers: ByTicket, numbers: int) -> Any:
    """The server's choice: the number of an arm, a point, or the points to try for a message of so many numbers.

    >>> action_from([[0.5, 0.0], [-0.5, 0.0]], ByTicket(dimension=2, slopes=True), 1).shape
    (2, 2)
    """
    if offers.actions:
        if isinstance(sent, int) and 0 <= sent < len(offers.actions):
            return int(sent)
        raise WireError(f"not one of {len(offers.actions)} arms")
    return array_from(sent, (2 * numbers, offers.dimension) if offers.slopes else (offers.dimension,))


def recommendation_from(sent: Any, offers: ByTicket) -> Any:
    """An arm, the numbers of several arms, or a point.

    >>> recommendation_from([0, 2], ByTicket(actions=("a", "b", "c")))
    (0, 2)
    """
    if not offers.actions:
        return array_from(sent, (offers.dimension,))
    if isinstance(sent, list):
        return tuple(action_from(one, offers, 0) for one in sent)
    return action_from(sent, offers, 0)
