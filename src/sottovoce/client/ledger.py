"""The owner's account: what was promised, what it cost, and what became of it. Entries are added, never taken back.

A report is paid for when the decision is made. So whether it is sent can never depend on what was observed, and a
crash can only lose a report, never repeat one. Three limits hold at once: the owner's, over all tasks of the folder,
and the contract's for its task, over a lifetime and over a window of days. All of them are counted as if the server had
chosen its budgets in the light of earlier answers (`accounting.Ledger`, adaptive).
"""

from collections import defaultdict
from dataclasses import dataclass

import msgspec

from sottovoce.client.vault import Vault
from sottovoce.privacy.accounting import Ledger, Spent, cost_of
from sottovoce.privacy.mechanisms import Mechanism
from sottovoce.protocol.budget import Budget, budget
from sottovoce.protocol.contract import DAY, Limit
from sottovoce.protocol.errors import BudgetExhausted

HOUR = 3600


@dataclass(frozen=True)
class Limits:
    """What the owner of a device allows, whatever a task asks for.

    >>> Limits(epsilon=2.0)
    Limits(epsilon=2.0, delta=0.0, lifetime=40.0, lifetime_delta=0.0)
    """

    epsilon: float = 4.0
    """Of one report."""
    delta: float = 0.0
    """Of one report; 0 refuses tasks with Gaussian noise."""
    lifetime: float = 40.0
    """Of all reports to all tasks together."""
    lifetime_delta: float = 0.0

    def __post_init__(self) -> None:
        budget(self.epsilon, self.delta)
        budget(self.lifetime, self.lifetime_delta)


@dataclass(frozen=True)
class Balance:
    """What was spent, what may be, and how many more reports that allows."""

    epsilon: float
    """Of one report, as this device answers."""
    spent: float
    """By this task; `inf` where Gaussian noise meets a limit with delta 0."""
    lifetime: float
    window_spent: float
    window: float
    spent_by_all: float
    """By every task of this folder."""
    lifetime_of_all: float
    reports_left: int


class Account:
    """The ledger as seen by one task. Entries are only added, so each is read once."""

    def __init__(self, vault: Vault, limits: Limits, limit: Limit) -> None:
        self._vault, self._limits, self._limit = vault, limits, limit
        self._read = self._latest = 0
        self._all = self._task = Spent()
        self._by_hour: defaultdict[int, Spent] = defaultdict(Spent)

    def affords(self, mechanism: Mechanism, now: float) -> bool:
        """Is one more report within every limit?"""
        try:
            self._spend(mechanism, now)
        except BudgetExhausted:
            return False
        return True

    def debit(self, decision: str, mechanism: Mechanism, now: float) -> int:
        """Pay for one report, in the caller's transaction: the number of the entry."""
        self._spend(mechanism, now)
        cost, hour = msgspec.json.encode(cost_of(mechanism)), self._now(now) // HOUR * HOUR
        return self._vault.pay(decision, *mechanism.budget, cost, hour)

    def _spend(self, mechanism: Mechanism, now: float) -> None:
        """Raise BudgetExhausted where a limit forbids one more report."""
        for ledger in self._ledgers(now):
            ledger.spend(mechanism)

    def balance(self, mechanism: Mechanism, now: float) -> Balance:
        """For the owner to see."""
        everything, lifetime, window = self._ledgers(now)
        return Balance(
            epsilon=mechanism.budget.epsilon,
            spent=lifetime.spent_epsilon(),
            lifetime=lifetime.limit.epsilon,
            window_spent=window.spent_epsilon(),
            window=window.limit.epsilon,
            spent_by_all=everything.spent_epsilon(),
            lifetime_of_all=everything.limit.epsilon,
            reports_left=min(ledger.remaining(mechanism) for ledger in (everything, lifetime, window)),
        )

    def _ledgers(self, now: float) -> tuple[Ledger, Ledger, Ledger]:
        """Of all tasks, of this task, and of this task's last days."""
        self._catch_up()
        limit = self._limit
        return (
            Ledger(Budget(self._limits.lifetime, self._limits.lifetime_delta), self._all),
            Ledger(Budget(limit.lifetime, limit.lifetime_delta), self._task),
            Ledger(Budget(limit.window, limit.lifetime_delta), self._recent(now)),
        )

    def _catch_up(self) -> None:
        for row in self._vault.ledger(self._read):
            spent = msgspec.json.decode(row.cost, type=Spent)
            self._read = row.id
            self._all += spent
            self._latest = max(self._latest, row.hour)
            if row.joined == self._vault.id:
                self._task += spent
                self._by_hour[row.hour] += spent

    def _now(self, now: float) -> int:
        """A clock that runs backwards frees no budget."""
        return max(int(now), self._latest)

    def _recent(self, now: float) -> Spent:
        """An entry leaves the window when the whole of its hour has."""
        if self._limit.window >= self._limit.lifetime:
            return self._task
        start = self._now(now) - self._limit.window_days * DAY
        return sum((spent for hour, spent in self._by_hour.items() if hour + HOUR > start), Spent())
