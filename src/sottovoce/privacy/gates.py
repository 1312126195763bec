"""The mechanisms that a contract describes, for the device that answers through them and the server that reads them."""

from sottovoce.privacy.domains import domain_from
from sottovoce.privacy.mechanisms import Mechanism, mechanism_from
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.codec import from_decimals
from sottovoce.protocol.contract import Contract


def mechanisms_of(contract: Contract) -> tuple[Mechanism, ...]:
    """One for each gate, in order, each verified; refuses numbers that do not keep their budget."""
    domain = domain_from(from_decimals(contract.domain))
    return tuple(
        mechanism_from(contract.mechanism, domain, Budget(gate.epsilon, gate.delta), from_decimals(gate.numbers))
        for gate in contract.gates
    )
