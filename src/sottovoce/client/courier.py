"""Everything for which a device needs the network, except joining. A bad network raises nothing and locks nothing."""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from sottovoce.client import decisions
from sottovoce.client.joining import Standing, look, set_status, standing
from sottovoce.client.offers import FRESH, Models, Tickets
from sottovoce.client.outbox import Backoff, Outbox, TryLater, body_of, fates_of
from sottovoce.client.store import Store
from sottovoce.client.terms import Terms
from sottovoce.client.transport import Transport
from sottovoce.privacy.drawing import Entropy
from sottovoce.protocol.contract import DAY
from sottovoce.protocol.errors import WireError

SUSPICIOUS = {"bad-gate", "bad-payload", "unknown-version"}
"""Verdicts after which the device looks at the contract and the model again."""

log = logging.getLogger("sottovoce.client")


@dataclass
class Courier:
    """Carries reports out, and models, tickets and news of the contract in."""

    store: Store
    joined: int
    terms: Terms
    transport: Transport
    entropy: Entropy
    looked: float
    """When the contract was last looked at."""
    wanted: int = 0
    """Tickets to keep ready."""
    broken: bool = False
    """The contract has changed: nothing is promised any more."""
    models: Models = field(init=False)
    tickets: Tickets = field(init=False)
    outbox: Outbox = field(init=False)
    _backoff: Backoff = field(init=False)

    def __post_init__(self) -> None:
        self.models = Models(self.store, self.joined, self.terms)
        self.tickets = Tickets(self.store, self.joined, self.terms)
        self.outbox = Outbox(self.store, self.joined)
        self._backoff = Backoff(self.entropy)

    # --- out ---------------------------------------------------------------------------------------------------------

    def deliver(self, now: float, *, force: bool) -> tuple[int, int]:
        """How many reports were acknowledged, and how many refused for good."""
        acknowledged = refused = 0
        if not (self._backoff.ready(now) and self._standing().open):
            return acknowledged, refused
        for rows in self.outbox.due(math.inf if force else now, self.entropy):
            try:
                answer = self.transport.request("POST", f"/v1/tasks/{self.terms.contract.id}/reports", body_of(rows))
                fates = fates_of(answer, len(rows))
            except (OSError, TryLater) as error:
                self._backoff.failed(now, error.seconds if isinstance(error, TryLater) else 0.0)
                break
            self._backoff.succeeded()
            judged = [(row, fate) for row, fate in zip(rows, fates, strict=True) if fate != "task-paused"]
            self.outbox.settle([row for row, _ in judged], [fate for _, fate in judged])
            taken = sum(fate in ("accepted", "duplicate") for fate in fates)
            acknowledged, refused = acknowledged + taken, refused + len(judged) - taken
            if SUSPICIOUS & set(fates):
                self.looked = self.models.until = -math.inf
            if len(judged) < len(rows):
                self._pause(now)
                break
        return acknowledged, refused

    def _pause(self, now: float) -> None:
        """Keep what is in the outbox, promise nothing more, and ask after a while whether the task is open again."""
        self.looked = now
        with self.store.transaction() as db:
            db.execute("UPDATE joined SET open = 0 WHERE id = ?", (self.joined,))

    # --- in ----------------------------------------------------------------------------------------------------------

    def renew(self, now: float) -> None:
        """What is old is asked for again: the contract once a day or while it rests, the model, tickets."""
        if not self._backoff.ready(now):
            return
        if now - self.looked >= (DAY if self._standing().open else FRESH):
            self._look_again(now)
        if self.terms.contextual and now >= self.models.until:
            self.fetch_model(now)
        elif self.wanted and (missing := self.wanted - self.tickets.left(now)) > 0:
            self.fetch_tickets(missing, now)

    def fetch_model(self, now: float) -> None:
        self._try(lambda: self.models.refresh(self.transport, now), now)

    def fetch_tickets(self, number: int, now: float) -> None:
        self._try(lambda: self.tickets.fetch(self.transport, number), now)

    def _try(self, work: Callable[[], None], now: float) -> None:
        """Use the network unless it failed just now."""
        if not self._backoff.ready(now):
            return
        try:
            work()
        except (OSError, WireError) as error:
            log.info("task %s: %s", self.terms.contract.id, error)
            self._backoff.failed(now)

    def _look_again(self, now: float) -> None:
        """A contract that changes under a running device ends its reports; the next start will refuse it aloud."""
        contract = self.terms.contract
        document = look(self.transport, contract.id)
        if document is None:
            return
        self.looked = now
        if document.contract.digest() == contract.digest():
            set_status(self.store, self.joined, document.status)
            return
        log.warning("the contract of task %s has changed: no more reports", contract.id)
        self.broken = True
        with self.store.transaction(flush=True) as db:
            decisions.withdraw(db, self.joined, "contract-changed")

    def _standing(self) -> Standing:
        with self.store.reading() as db:
            return standing(db, self.joined)
