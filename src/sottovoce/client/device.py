"""One person's device: it chooses locally, observes, and whispers one private report per decision.

Order of work for a report: pay (when the decision is made), claim the draw, draw, persist the report and forget the raw
data, send. A crash in between can lose a report; it cannot cause a second draw for the same datum.

Whether, when and with what length a report leaves depends on the decision and on chance, never on what was observed:
unobserved decisions report the default reward, bad input too, and every report waits for the decision's deadline.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sottovoce.catalogue.task import Task, algorithm_of
from sottovoce.client import decisions
from sottovoce.client.answers import UNHEARD, context_of, document_of, message_of
from sottovoce.client.courier import Courier
from sottovoce.client.decisions import Pending
from sottovoce.client.joining import Standing, join, standing
from sottovoce.client.ledger import Account, Balance, Limits
from sottovoce.client.outbox import Sent, Waiting
from sottovoce.client.store import Store, count
from sottovoce.client.terms import expired
from sottovoce.client.transport import Http, Transport
from sottovoce.privacy.drawing import SYSTEM, Entropy, privatise
from sottovoce.protocol.codec import to_text
from sottovoce.protocol.contract import NAME, Contract
from sottovoce.protocol.errors import ConfigurationError, Unreachable
from sottovoce.protocol.wire import REPORT_ID_BYTES
from sottovoce.users.fields import Raw

SILENT = "silent:"
"""Decisions without a report say so in their id (no other id has a colon); nothing about them is kept."""

log = logging.getLogger("sottovoce.client")


@dataclass(frozen=True)
class Decision:
    """What to show, and under which id to tell how it went."""

    id: str
    action: Any
    """The number of an action, a point, the points to try, or the numbers of the recommended arms."""
    name: str
    reported: bool
    """True if exactly one report will be sent; False if nothing will be."""
    problem: str = ""
    """For developers: what was wrong with the input, or why there was no offer. Never sent."""


class Device:
    """A task joined by one owner. Thread-safe; `choose` does not wait for the network once it has an offer.

    `folder` keeps contracts, ledger and outbox over restarts, for all tasks of one owner; None keeps them in memory.
    `epsilon` asks for a quieter gate of the contract. `entropy` is for tests only. One process at a time should have
    the same task of the same folder open: two would not break a promise, but may lose each other's reports.
    """

    def __init__(
        self,
        server: str,
        task: str,
        *,
        folder: str | Path | None = None,
        limits: Limits | None = None,
        epsilon: float | None = None,
        transport: Transport | None = None,
        clock: Callable[[], float] = time.time,
        entropy: Entropy = SYSTEM,
    ) -> None:
        if not NAME.fullmatch(task):
            raise ConfigurationError(f"a task's id has lower-case letters, digits and dashes, got {task!r}")
        server, limits = server.rstrip("/"), limits or Limits()
        self._transport = transport or Http(server)
        self._clock, self._entropy = clock, entropy
        self._store = Store(None if folder is None else Path(folder))
        try:
            self._joined, self._terms = join(self._store, self._transport, server, task, limits, epsilon, clock())
        except BaseException:
            self._store.close()
            raise
        self._account = Account(self._joined, limits, self._terms.contract.limit)
        self._courier = Courier(self._store, self._joined, self._terms, self._transport, entropy, clock())
        self._models, self._outbox = self._courier.models, self._courier.outbox
        self._last_offer: Any = None
        self._sending = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        with self._store.transaction(flush=True) as db:
            decisions.lose(db, self._joined)

    @property
    def contract(self) -> Contract:
        """What this device has agreed to."""
        return self._terms.contract

    # --- choosing ----------------------------------------------------------------------------------------------------

    def choose(self, raw: Raw | Sequence[Raw] | None = None, *, baseline: int | str = 0) -> Decision:
        """An action for this person, now.

        `raw` are the fields of a contextual task: of the person, or one mapping per candidate. While the task is an
        apprentice the app's own choice, `baseline`, is shown and reported about. Without budget, consent or an open
        task the choice is made all the same, and nothing will be sent; a task with tickets then uses one up and never
        brings it back.
        """
        if self._terms.contextual:
            return self._choose_by_model(raw, baseline)
        return self._choose_by_ticket()

    def prefetch(self, tickets: int) -> None:
        """Keep so many tickets ready (now, and at every `send`), so that `choose` need not wait for the server."""
        self._courier.wanted = tickets
        self._courier.fetch_tickets(tickets, self._clock())

    def _choose_by_model(self, raw: Raw | Sequence[Raw] | None, baseline: int | str) -> Decision:
        if self._models.newest is None:
            self._courier.fetch_model(self._clock())
        context, problem = context_of(self.contract, raw)
        now, chance = self._clock(), self._uniform()
        with self._store.transaction() as db:
            known, version = standing(db, self._joined), self._models.newest
            if known.apprentice:
                action = self._baseline(baseline, len(context))
            elif version is None or problem:
                action = int(chance * len(context))
            else:
                action = int(self._terms.user.act(self._models[version], context, chance))
            if problem:
                count(db, self._joined, "bad_input")
            if version is None:
                return self._silent(db, action, problem or "there is no model yet and the server does not answer")
            return self._decide(db, known, action, version, context[action].tolist(), now, problem)

    def _choose_by_ticket(self) -> Decision:
        for attempt in range(2):
            with self._store.transaction() as db:
                now, known = self._clock(), standing(db, self._joined)
                if known.recommendation is not None:
                    return self._silent(db, _recommended(known.recommendation, self.contract.task))
                if (offer := self._courier.tickets.take(db, now)) is not None:
                    ticket, self._last_offer = offer
                    return self._decide(db, known, self._last_offer, ticket, _plain(self._last_offer), now)
            if attempt == 0:
                self._courier.fetch_tickets(max(self._courier.wanted, 1), self._clock())
        with self._store.transaction() as db:
            return self._silent(db, self._makeshift(), "there is no ticket and the server does not answer")

    def _makeshift(self) -> Any:
        """Without any offer: what was offered last, or any arm."""
        if self._last_offer is not None:
            return self._last_offer
        if algorithm_of(self.contract.task.learner).actions == "arms":
            return self._entropy.below(self.contract.task.arms)
        raise Unreachable(f"task {self.contract.id!r} has not offered any point yet and its server does not answer")

    def _decide(
        self,
        db: sqlite3.Connection,
        known: Standing,
        action: Any,
        source: str,
        raw: Any,
        now: float,
        problem: str = "",
    ) -> Decision:
        """Promise a report and pay for it, if there may be one."""
        terms, decision = self._terms, self._token(12)
        speaks = known.open and not known.opted_out and not self._courier.broken and not expired(self.contract, now)
        entry = self._account.debit(db, decision, terms.mechanism, now) if speaks else None
        if entry is None:
            return self._silent(db, action, problem)
        pending = Pending(decision, entry, now, terms.gate, source, msgspec.msgpack.encode(raw))
        decisions.promise(db, self._joined, pending)
        return Decision(decision, action, self._name(action), True, problem)

    def _silent(self, db: sqlite3.Connection, action: Any, problem: str = "") -> Decision:
        count(db, self._joined, "silent")
        return Decision(SILENT + self._token(12), action, self._name(action), False, problem)

    def _baseline(self, baseline: int | str, number: int) -> int:
        index = self.contract.actions.index(baseline) if baseline in self.contract.actions else baseline
        if isinstance(index, int) and 0 <= index < number:
            return index
        raise ConfigurationError(f"the baseline must be one of {number} actions, got {baseline!r}")

    def _name(self, action: Any) -> str:
        names = self.contract.actions
        if isinstance(action, tuple):
            return ", ".join(names[one] for one in action) if names else ""
        return names[action] if names and isinstance(action, int) else ""

    # --- observing ---------------------------------------------------------------------------------------------------

    def observe(self, decision: str, reward: Any) -> bool:
        """How it went: a number in the task's units, or one per point where several were tried.

        True if this reward will be reported; False if the decision is without a report, was observed before, or its
        deadline has passed. What lies outside the declared range is clipped, what is no number becomes the default.
        """
        if decision.startswith(SILENT):
            return False
        with self._store.lock:
            return self._report(decision, reward)

    def _report(self, decision: str, reward: Any) -> bool:
        """Claim the draw, draw, then persist the report and forget the raw data."""
        with self._store.transaction(flush=True) as db:
            pending = decisions.begin(db, self._joined, decision)
        if pending is None:
            self._check_known(decision)
            return False
        late = self._clock() > self._deadline(pending)
        message, notes = message_of(self._terms, self._models, pending, UNHEARD if late else reward)
        payload = privatise(self._terms.mechanisms[pending.gate], message, self._entropy)
        report = document_of(self._terms, pending, self._token(REPORT_ID_BYTES), to_text(payload))
        with self._store.transaction() as db:
            if not decisions.finish(db, decision):
                return False
            self._outbox.put(db, pending.entry, report, self._due(pending))
            for note in notes:
                count(db, self._joined, note)
        return not late

    def _check_known(self, decision: str) -> None:
        with self._store.reading() as db:
            known = "SELECT 1 FROM ledger WHERE decision = ? AND joined = ?"
            if db.execute(known, (decision, self._joined)).fetchone() is None:
                raise ConfigurationError(f"no decision {decision!r} was made for task {self.contract.id!r} here")

    def _deadline(self, pending: Pending) -> float:
        return pending.at + self.contract.reward.wait

    def _due(self, pending: Pending) -> float:
        """A random while after the deadline, whenever the reward came."""
        return self._deadline(pending) + self._entropy.below(1000 * self.contract.delay + 1) / 1000

    # --- sending -----------------------------------------------------------------------------------------------------

    def send(self, now: float | None = None, *, force: bool = False) -> Sent:
        """Report the default for overdue decisions, send what is due, look for a newer model. Never raises for the net.

        `force` sends everything without its random delay: for tests and simulated fleets, whose timing tells nothing.
        """
        with self._sending:
            now = self._clock() if now is None else now
            self._close_overdue(now)
            acknowledged, refused = self._courier.deliver(now, force=force)
            self._courier.renew(now)
            self._store.tidy()
            return Sent(acknowledged, refused, len(self._outbox))

    def _close_overdue(self, now: float) -> None:
        with self._store.reading() as db:
            late = decisions.overdue(db, self._joined, now - self.contract.reward.wait)
        for decision in late:
            with self._store.lock:
                self._report(decision, UNHEARD)

    # --- the owner ---------------------------------------------------------------------------------------------------

    def outbox(self) -> list[Waiting]:
        """Exactly what will leave this device, what it cost and when it is due."""
        return self._outbox.listing()

    def budget(self) -> Balance:
        """What was spent and what is left."""
        with self._store.reading() as db:
            return self._account.balance(db, self._terms.mechanism, self._clock())

    def stats(self) -> dict[str, int]:
        """Counts: entries of the ledger by fate, verdicts, and what was clipped, bad, unobserved or silent."""
        with self._store.reading() as db:
            fates = db.execute("SELECT fate, count(*) FROM ledger WHERE joined = ? GROUP BY fate", (self._joined,))
            counted = db.execute("SELECT name, count FROM counts WHERE joined = ?", (self._joined,))
            return {**dict.fromkeys(("promised", "drawn", "sent", "lost"), 0), **dict(fates), **dict(counted)}

    def opt_out(self) -> None:
        """Withdraw what has not left, and report nothing more. Choosing goes on; what was spent stays spent."""
        self._set_opted_out(True)

    def opt_in(self) -> None:
        """Report again, on the old ledger."""
        self._set_opted_out(False)

    def _set_opted_out(self, out: bool) -> None:
        with self._store.transaction(flush=True) as db:
            db.execute("UPDATE joined SET opted_out = ? WHERE id = ?", (out, self._joined))
            if out:
                decisions.withdraw(db, self._joined, "withdrawn")

    # --- in the background -------------------------------------------------------------------------------------------

    def start(self, every: float = 15.0) -> None:
        """Call `send` again and again in a thread of its own."""
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run, args=(every,), name="sottovoce", daemon=True)
            self._thread.start()

    def _run(self, every: float) -> None:
        while True:
            try:
                self.send()
            except sqlite3.OperationalError as error:  # a full disk, a busy file: nothing was sent, try again
                log.warning("task %s: %s", self.contract.id, error)
            if self._stopping.wait(every):
                return

    def stop(self) -> None:
        """End the thread; what waits stays in the outbox."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def close(self) -> None:
        """Stop, and close the file."""
        self.stop()
        self._store.close()

    def __enter__(self) -> "Device":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _token(self, octets: int) -> str:
        return to_text(self._entropy.octets(octets))

    def _uniform(self) -> float:
        return self._entropy.below(2**53) / 2**53


def _plain(action: Any) -> Any:
    return action.tolist() if isinstance(action, np.ndarray) else action


def _recommended(found: Any, task: Task) -> Any:
    """An arm, a set of arms, or a point."""
    if algorithm_of(task.learner).actions == "arms":
        return tuple(found) if isinstance(found, list) else int(found)
    return np.array(found, dtype=float)
