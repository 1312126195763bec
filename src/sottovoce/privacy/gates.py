"""The mechanisms that a contract describes, for the device that answers through them and the server that reads them."""

from sottovoce.privacy.domains import Interval, domain_from
from sottovoce.privacy.mechanisms import Mechanism, mechanism_from
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.codec import from_decimals
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.errors import BrokenPromise
from sottovoce.protocol.holdout import holdout_of


def mechanisms_of(contract: Contract) -> tuple[Mechanism, ...]:
    """One for each gate, in order, each verified; refuses numbers that do not keep their budget."""
    domain = domain_from(from_decimals(contract.domain))
    return tuple(
        mechanism_from(contract.mechanism, domain, Budget(gate.epsilon, gate.delta), from_decimals(gate.numbers))
        for gate in contract.gates
    )


def measuring_of(contract: Contract) -> tuple[Mechanism, ...]:
    """For each gate the one through which a reward alone is reported, verified; none where nothing is held out."""
    if (holdout := holdout_of(contract)) is None:
        return ()
    rewards, gates = Interval(contract.reward.unit_low, contract.reward.unit_high), mechanisms_of(contract)
    measuring = tuple(
        mechanism_from("levels", rewards, gate.budget, numbers)
        for gate, numbers in zip(gates, holdout.gates, strict=True)
    )
    for gate, one in zip(gates, measuring, strict=True):
        if one.report_size > gate.report_size or one.cost() != gate.cost():
            raise BrokenPromise("a report that measures must cost what the others cost and be no longer")
    return measuring
