"""One person's device: it chooses locally, observes, and sends one private report per decision.

Order of work for a report: pay (when the decision is made), claim the draw, draw, persist the report and forget the raw
data, send. A crash in between can lose a report; it cannot cause a second draw for the same datum.

Whether, when and with what length a report leaves depends on the decision and on chance, never on what was observed:
unobserved decisions report the default reward, bad input too, and every report waits for the decision's deadline.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sottovoce.client import answers
from sottovoce.client.answers import NOT_OBSERVED, Decision, Sent, Waiting
from sottovoce.client.background import Background
from sottovoce.client.http import Http, Transport
from sottovoce.client.ledger import Account, Balance, Limits
from sottovoce.client.network import Network, join
from sottovoce.client.permits import Admission
from sottovoce.client.tables import HeldPermit, Pending
from sottovoce.client.terms import action_from, coin_from, expired, recommendation_from
from sottovoce.client.vault import Vault
from sottovoce.privacy.domains import size
from sottovoce.privacy.drawing import SYSTEM, Entropy, privatise
from sottovoce.protocol.codec import to_text
from sottovoce.protocol.contract import NAME, ByModel, ByTicket, Contract
from sottovoce.protocol.errors import BadInput, ConfigurationError, Unreachable
from sottovoce.users.fields import RawFields

NO_REPORT = "silent:"
"""Decisions without a report say so in their id (no other id has a colon); nothing about them is kept."""

OVERFLOWING = np.errstate(all="ignore")
"""Numbers may overflow, also where the app has said that this is an error: a server could send a model that fails for
some people, and see who does not report."""

log = logging.getLogger("sottovoce.client")


class Device:
    """A task joined by one owner. Thread-safe; `choose` does not wait for the network once it has an offer.

    `folder` keeps contracts, ledger and outbox over restarts, for all tasks of one owner; None keeps them in memory.
    `epsilon` asks for a quieter gate of the contract. `strict` raises `BadInput` for fields that the task does not
    have; without it such a person gets a random action, and the log says what was wrong. `admission` gets a token from
    the app's own server, where the task wants one. `entropy` is for tests only. One process at a time should have the
    same task of the same folder open: two may lose each other's reports. A process that was forked opens its own.
    """

    def __init__(
        self,
        server: str,
        task: str,
        *,
        folder: str | Path | None = None,
        limits: Limits | None = None,
        epsilon: float | None = None,
        strict: bool = False,
        admission: Admission | None = None,
        transport: Transport | None = None,
        clock: Callable[[], float] = time.time,
        entropy: Entropy = SYSTEM,
    ) -> None:
        if not NAME.fullmatch(task):
            raise ConfigurationError(f"a task's id has lower-case letters, digits and dashes, got {task!r}")
        server, limits = server.rstrip("/"), limits or Limits()
        transport = transport or Http(server)
        self._clock, self._entropy, self._strict = clock, entropy, strict
        self._vault = Vault(None if folder is None else Path(folder))
        try:
            self._terms = join(self._vault, transport, server, task, limits, epsilon, clock())
            self._network = Network(self._vault, self._terms, transport, entropy, admission)
        except BaseException:
            self._vault.close()
            raise
        self._account, self._stock = Account(self._vault, limits, self._terms.contract.limit), self._network.stock
        self._last_offer: Any = None
        self._sending, self._background = threading.Lock(), Background(self.send, task)
        with self._vault.transaction(flush=True):
            self._vault.give_up_draws()
        if self._stock.missing(clock()) == self._stock.wanted > 0 and self._may_report(clock()):
            self._network.fetch(1, clock())  # the others come later, at random times

    @property
    def contract(self) -> Contract:
        """What this device has agreed to."""
        return self._terms.contract

    # --- choosing ----------------------------------------------------------------------------------------------------

    def choose(self, raw: RawFields | Sequence[RawFields] | None = None, *, baseline: int | str = 0) -> Decision:
        """An action for this person, now.

        `raw` are the fields of a contextual task: of the person, or one mapping per candidate. `baseline` is the app's
        own choice, shown while the task is an apprentice, and in its holdout. Without budget, consent or an open task
        the choice is made all the same, and nothing will be sent; a task with tickets then uses one up.
        """
        if isinstance(self.contract.offers, ByModel):
            return self._choose_by_model(self.contract.offers, raw, baseline)
        return self._choose_by_ticket(self.contract.offers)

    def prefetch(self, number: int) -> None:
        """Keep so many tickets or permits ready (now, and at every `send`).

        With tickets `choose` then need not wait for the server. A decision without a permit is not reported; by default
        two are kept, which is enough for a few decisions an hour. Many permits fetched at once tell the server that
        their reports come from one device; see docs/privacy.md.
        """
        self._stock.wanted = number
        if (missing := self._stock.missing(self._clock())) and self._may_report(self._clock()):
            self._network.fetch(missing, self._clock())

    @OVERFLOWING
    def _choose_by_model(self, offers: ByModel, raw: Any, baseline: int | str) -> Decision:
        context, problem = answers.context_of(offers, raw)
        if problem:
            log.warning("task %s: %s", self.contract.id, problem)
            if self._strict:
                raise BadInput(problem)
        if self._network.newest is None:
            self._network.ask_status(self._clock())
        chance = self._entropy.below(2**53) / 2**53
        with self._vault.transaction():
            standing, version = self._vault.standing(), self._network.newest
            permit, silent = self._permit(version)
            purpose, apprentice = self._terms.purpose_of(permit), standing.mode == "apprentice"
            if apprentice or self._terms.holdout:
                baseline = answers.baseline_of(offers, baseline, len(context))
            if apprentice or purpose == "baseline":
                action = int(baseline)
            elif version is None or problem:
                action = int(chance * len(context))
            else:
                action = int(self._terms.user.act(self._network.models[version], context, chance))
            if problem:
                self._vault.count("bad_input")
            if apprentice and purpose == "choice":  # nothing learned was shown, so there is nothing to measure
                return self._unreported(action, problem)
            if version is None or permit is None:
                return self._unreported(action, problem or silent)
            kept = [] if purpose != "learning" else answers.kept_of(self._network.models[version], context, action)
            return self._promised(action, permit, version, kept, problem)

    def _choose_by_ticket(self, offers: ByTicket) -> Decision:
        asked = False
        while True:
            with self._vault.transaction():
                standing = self._vault.standing()
                if standing.recommendation is not None:
                    return self._unreported(recommendation_from(msgspec.json.decode(standing.recommendation), offers))
                if (ticket := self._stock.take(self._clock())) is not None:
                    action = action_from(msgspec.json.decode(ticket.action), offers, size(self._terms.mechanism.domain))
                    self._last_offer = action
                    if not self._may_report(self._clock()):
                        return self._unreported(action)
                    return self._promised(action, ticket, "", np.asarray(action).tolist())
                if asked:
                    return self._unreported(self._any_action(), "there is no ticket and the server does not answer")
            self._network.fetch(max(self._stock.wanted, 1), self._clock())
            asked = True

    def _any_action(self) -> Any:
        """Without any offer: what was offered last, or any arm."""
        if self._last_offer is not None:
            return self._last_offer
        if actions := self.contract.offers.actions:
            return self._entropy.below(len(actions))
        raise Unreachable(f"task {self.contract.id!r} has not offered any point yet and its server does not answer")

    def _permit(self, version: str | None) -> tuple[HeldPermit | None, str]:
        """The oldest permit, taken for a decision by this model; or none, and why if developers should know."""
        if version is None:
            return None, "there is no model yet and the server does not answer"
        if not self._may_report(self._clock()):
            return None, ""
        return self._stock.take(self._clock()), "there is no permit at hand, so nothing is reported"

    def _promised(self, action: Any, permit: HeldPermit, version: str, raw: Any, problem: str = "") -> Decision:
        """Promise a report and pay for it."""
        terms, decision, now = self._terms, self._token(12), self._clock()
        entry, data = self._account.debit(decision, terms.mechanism, now), msgspec.msgpack.encode(raw)
        self._vault.promise(Pending(decision, entry, now, terms.gate, permit.permit, permit.nonce, version, data))
        return Decision(decision, action, answers.name_of(self.contract.offers, action), True, problem)

    def _unreported(self, action: Any, problem: str = "") -> Decision:
        self._vault.count("silent")
        name = answers.name_of(self.contract.offers, action)
        return Decision(NO_REPORT + self._token(12), action, name, False, problem)

    # --- observing and sending ---------------------------------------------------------------------------------------

    def observe(self, decision: str, reward: Any) -> bool:
        """How it went: a number in the task's units, or one per point where several were tried. Larger is better.

        True if this reward will be reported; False if the decision is without a report, was observed before, or its
        deadline has passed. What lies outside the declared range is clipped, what is no number becomes the default.
        """
        if decision.startswith(NO_REPORT):
            return False
        with self._vault.lock:
            return self._report(decision, reward)

    @OVERFLOWING
    def _report(self, decision: str, reward: Any) -> bool:
        """Claim the draw, draw, then persist the report and forget the raw data."""
        with self._vault.transaction(flush=True):
            pending = self._vault.begin(decision)
        if pending is None:
            if not self._vault.was_made(decision):
                raise ConfigurationError(f"no decision {decision!r} was made for task {self.contract.id!r} here")
            return False
        late = self._clock() > (deadline := pending.at + self.contract.reward.wait)
        mechanism, observed = answers.mechanism_of(self._terms, pending), NOT_OBSERVED if late else reward
        message, notes = answers.message_of(self._terms, self._network.models, pending, mechanism, observed)
        drawn = privatise(mechanism, message, self._entropy, coin_from(pending))
        report = answers.document_of(self._terms, pending, drawn[mechanism.coin_size :])
        due = deadline + self._entropy.below(1000 * self.contract.delay + 1) / 1000  # whenever the reward came
        with self._vault.transaction():
            if not self._vault.finish(pending, report, due):
                return False
            for note in notes:
                self._vault.count(note)
        return not late

    def send(self, now: float | None = None, *, force: bool = False) -> Sent:
        """Report the default for overdue decisions, send what is due, look for a newer model. Never raises for the net.

        `force` sends everything without its random delay: for tests and simulated fleets, whose timing tells nothing.
        """
        with self._sending:
            now = self._clock() if now is None else now
            for decision in self._vault.overdue(now - self.contract.reward.wait):
                self.observe(decision, NOT_OBSERVED)
            acknowledged, refused = self._network.deliver(now, force=force)
            self._network.renew(now, reporting=self._may_report(now))
            self._vault.tidy()
            return Sent(acknowledged, refused, len(self._vault.outbox()))

    # --- the owner ---------------------------------------------------------------------------------------------------

    def outbox(self) -> list[Waiting]:
        """Exactly what will leave this device, what it cost and when it is due."""
        paid = {row.id: row for row in self._vault.ledger()}
        return [
            Waiting(msgspec.json.decode(row.report), paid[row.entry].epsilon, paid[row.entry].delta, row.due)
            for row in self._vault.outbox()
        ]

    def budget(self) -> Balance:
        """What was spent and what is left."""
        with self._vault.lock:
            return self._account.balance(self._terms.mechanism, self._clock())

    def stats(self) -> dict[str, int]:
        """Counts: entries of the ledger by fate, verdicts, and what was clipped, bad, unobserved or not reported."""
        return {**dict.fromkeys(("promised", "drawn", "sent", "lost"), 0), **self._vault.counts()}

    def opt_out(self) -> None:
        """Withdraw what has not left, and report nothing more. Choosing goes on; what was spent stays spent."""
        with self._vault.transaction(flush=True):
            self._vault.set(opted_out=True)
            self._vault.withdraw("withdrawn")

    def opt_in(self) -> None:
        """Report again, on the old ledger."""
        with self._vault.transaction(flush=True):
            self._vault.set(opted_out=False)

    # --- in the background -------------------------------------------------------------------------------------------

    def start(self, every: float = 15.0) -> None:
        """Call `send` again and again in a thread of its own."""
        self._background.start(every)

    def stop(self) -> None:
        """End the thread; what waits stays in the outbox."""
        self._background.stop()

    def close(self) -> None:
        """Stop, and close the file."""
        self.stop()
        self._vault.close()

    def __enter__(self) -> "Device":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _may_report(self, now: float) -> bool:
        """May a decision that is made now be reported?"""
        with self._vault.lock:
            standing = self._vault.standing()
            refused = standing.opted_out or self._network.contract_changed or expired(self.contract, now)
            return not refused and bool(standing.open) and self._account.affords(self._terms.mechanism, now)

    def _token(self, octets: int) -> str:
        return to_text(self._entropy.octets(octets))
