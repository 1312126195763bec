"""What a statement is computed from: the contract's own numbers, each verified as a device verifies them."""

from typing import NamedTuple

from sottovoce.catalogue.task import Learning, learning_of
from sottovoce.privacy.accounting import Ledger
from sottovoce.privacy.gates import mechanisms_of
from sottovoce.privacy.levels.mechanism import Levels
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.contract import ByModel, Contract, contract_from, digest_of


class Shuffled(NamedTuple):
    """What reports that a shuffler mixed promise to its reader, if so many of a batch are of honest devices."""

    reports: int
    promise: Budget


class Allowance(NamedTuple):
    """A limit of the contract, and how many reports of the first gate fit it."""

    limit: Budget
    reports: int


class Facts(NamedTuple):
    """All that is said is computed from these."""

    contract: Contract
    digest: str
    learning: Learning
    mechanisms: tuple[Mechanism, ...]
    """One per gate; the first is the task's own."""
    window: Allowance
    lifetime: Allowance
    warm: int | None
    """Rows without noise that the task started from; None where there is no server to ask."""
    shuffled: tuple[Shuffled, ...]
    """Empty where it was not computed, or the theorem does not cover the mechanism."""
    repeated: tuple[Allowance, ...] = ()
    """Where the contract declares a shuffler: one report of a device, those in a window, and all it may ever send."""

    @property
    def batch(self) -> int:
        """The least number of reports that a shuffler mixes; 0 where the contract declares none."""
        return self.learning.shuffler.batch if self.learning.shuffler else 0

    @property
    def contextual(self) -> bool:
        """Does the device choose, by a model?"""
        return isinstance(self.contract.offers, ByModel)

    @property
    def promise(self) -> Budget:
        """Of one report."""
        return self.mechanisms[0].budget

    @property
    def one_bit(self) -> bool:
        """Is a report one bit by randomised response?"""
        return isinstance(own := self.mechanisms[0], Levels) and own.levels == 2

    @property
    def answerable(self) -> bool:
        """Does one report fit the contract's own limits? If not, devices refuse the task."""
        return min(self.window.reports, self.lifetime.reports) > 0

    @property
    def name(self) -> str:
        return " ".join(self.contract.title.split()) or self.contract.id


def facts_of(body: bytes, warm: int | None = None, shuffled: tuple[Shuffled, ...] = ()) -> Facts:
    """The facts of a contract, given as the bytes that are served; refuses one that does not keep its promise."""
    contract = contract_from(body)
    mechanisms, limit = mechanisms_of(contract), contract.limit
    window, lifetime = (
        Allowance(most, Ledger(most).remaining(mechanisms[0]))
        for most in (Budget(limit.window, limit.lifetime_delta), Budget(limit.lifetime, limit.lifetime_delta))
    )
    return Facts(contract, digest_of(body), learning_of(contract), mechanisms, window, lifetime, warm, shuffled)
