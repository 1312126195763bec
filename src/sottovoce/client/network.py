"""Everything for which a device needs its server. A bad network raises nothing after joining, and locks nothing."""

import logging
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from sottovoce.admission import HEADER
from sottovoce.client.http import Response, Transport
from sottovoce.client.ledger import Limits
from sottovoce.client.terms import Terms, accept, action_from, expired, recommendation_from
from sottovoce.client.vault import OutboxRow, Vault
from sottovoce.privacy.domains import size
from sottovoce.privacy.drawing import Entropy
from sottovoce.protocol.codec import from_text
from sottovoce.protocol.contract import DAY, ByModel, ByTicket, digest_of
from sottovoce.protocol.errors import ConfigurationError, ContractChanged, ContractRefused, Unreachable, WireError
from sottovoce.protocol.offers import model_from, version_of
from sottovoce.protocol.problems import problem_from
from sottovoce.protocol.wire import LARGEST_OFFERS, Offers, OffersRequest, TaskStatus, Verdicts

BATCH = 100
"""Reports in one request."""
SUSPICIOUS = {"bad-gate", "bad-payload", "unknown-version"}
"""Verdicts after which the device looks at the contract and the model again."""
FRESH = 60.0
"""Seconds that an answer is fresh when the server does not say."""
FOREVER = 2**53
"""Seconds that a ticket may claim to be valid."""
LONGEST_BACKOFF = 3600.0
LONGEST_RETRY_AFTER = 86400.0

Admission = Callable[[int], str]
"""Asks the app for an admission token for so many tickets."""

log = logging.getLogger("sottovoce.client")


def join(
    vault: Vault, transport: Transport, server: str, task: str, limits: Limits, epsilon: float | None, now: float
) -> Terms:
    """The terms on which a task is joined; from then on it is this contract or none. Without a server: those pinned."""
    pinned = next((row.contract for row in vault.joined() if (row.server, row.task) == (server, task)), None)
    try:
        body = _served(transport, task)
    except (Unreachable, ConfigurationError):
        if pinned is None:
            raise
        body = pinned
    if pinned is not None and digest_of(pinned) != digest_of(body):
        raise ContractChanged(f"{server} has another contract for {task!r} than the one this device joined: refused")
    terms = accept(body, task, limits, epsilon)
    if pinned is None and expired(terms.contract, now):
        raise ContractRefused(f"task {task!r} expired on {terms.contract.expires}")
    with vault.transaction(flush=True):
        vault.join(server, task, body, msgspec.json.encode(limits))
    return terms


def _served(transport: Transport, task: str) -> bytes:
    """The contract as it is served now."""
    try:
        answer = transport.request("GET", f"/v1/tasks/{task}/contract")
    except OSError as error:
        raise Unreachable(f"the contract of {task!r} cannot be had: {error or type(error).__name__}") from error
    if answer.status == 404:
        raise ConfigurationError(f"the server knows no task {task!r}")
    if answer.status != 200:
        raise Unreachable(f"the contract of {task!r} cannot be had: status {answer.status}")
    return answer.body


class Network:
    """Takes reports out, and brings models, tickets and news of the task in."""

    def __init__(
        self, vault: Vault, terms: Terms, transport: Transport, entropy: Entropy, admission: Admission | None = None
    ) -> None:
        if admission is None and "admission" in terms.contract.extensions:
            raise ConfigurationError(
                f"task {terms.contract.id!r} admits people whom its app knows: Device(admission=...) gets their tokens"
            )
        self._admission = admission
        self._vault, self._terms, self._transport, self._entropy = vault, terms, transport, entropy
        self._offers, self._path = terms.contract.offers, f"/v1/tasks/{terms.contract.id}"
        self._backoff = Backoff(entropy)
        self._asked_again = -math.inf
        """When the status must be asked for again."""
        self.wanted = 0
        """Tickets to keep ready."""
        self.contract_changed = False
        """Then nothing is promised any more."""
        self.models: dict[str, Any] = {}
        """The models by version: the newest, and those by which an open decision was made."""
        self.newest: str | None = None
        for version, body in vault.models():
            self._know(version, body)

    # --- out ---------------------------------------------------------------------------------------------------------

    def deliver(self, now: float, *, force: bool) -> tuple[int, int]:
        """How many reports were acknowledged, and how many refused for good."""
        acknowledged = refused = 0
        if not (self._backoff.ready(now) and self._vault.standing().open):
            return acknowledged, refused
        for rows in self._batches(math.inf if force else now):
            fates = self._judged(rows)
            if not isinstance(fates, list):
                self._backoff.failed(now, at_least=fates)
                break
            self._backoff.succeeded()
            judged = [(row, fate) for row, fate in zip(rows, fates, strict=True) if fate != "task-paused"]
            with self._vault.transaction():
                for row, fate in judged:
                    self._vault.settle(row, fate)
            taken = sum(fate in ("accepted", "duplicate") for fate in fates)
            acknowledged, refused = acknowledged + taken, refused + len(judged) - taken
            if SUSPICIOUS & set(fates):
                self._asked_again = -math.inf
            if len(judged) < len(rows):  # paused: keep the rest, and ask after a while whether it is open again
                self._vault.set(open=False)
                self._asked_again = now + FRESH
                break
        return acknowledged, refused

    def _judged(self, rows: list[OutboxRow]) -> list[str] | float:
        """What the server says of each report: exactly the bytes that lie in the outbox are sent."""
        body = b'{"reports":[' + b",".join(row.report for row in rows) + b"]}"
        try:
            return fates_of(self._transport.request("POST", f"{self._path}/reports", body), len(rows))
        except OSError:
            return 0.0

    def _batches(self, until: float) -> list[list[OutboxRow]]:
        """What is due, in random order."""
        rows = self._vault.outbox(until)
        for last in range(len(rows) - 1, 0, -1):
            other = self._entropy.below(last + 1)
            rows[last], rows[other] = rows[other], rows[last]
        return [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]

    # --- in ----------------------------------------------------------------------------------------------------------

    def renew(self, now: float) -> None:
        """What is old is asked for again: the status, with it the model; and tickets."""
        if now >= self._asked_again:
            self.ask_status(now)
        if self.wanted and (missing := self.wanted - self._vault.tickets_left(now)) > 0:
            self.fetch_tickets(missing, now)

    def ask_status(self, now: float) -> None:
        self._try(lambda: self._ask_status(now), now)

    def fetch_tickets(self, number: int, now: float) -> None:
        self._try(lambda: self._fetch_tickets(number), now)

    def _try(self, work: Callable[[], None], now: float) -> None:
        """Use the network unless it failed just now."""
        if not self._backoff.ready(now):
            return
        try:
            work()
        except (OSError, WireError) as error:
            log.info("task %s: %s", self._terms.contract.id, error)
            self._backoff.failed(now)

    def _ask_status(self, now: float) -> None:
        """A contract that changes under a running device ends its reports; the next start refuses it."""
        answer = _asked(self._transport.request("GET", self._path))
        status = _read(answer, TaskStatus)
        if status.digest != self._terms.digest:
            log.warning("the contract of task %s has changed: no more reports", status.id)
            self.contract_changed = True
            with self._vault.transaction(flush=True):
                self._vault.withdraw("contract-changed")
            return
        self._vault.set(mode=status.mode, open=status.state == "open")
        if isinstance(self._offers, ByModel) and status.version not in ("", self.newest):
            self._fetch_model()
        often = isinstance(self._offers, ByModel) or status.state != "open"
        self._asked_again = now + (max_age(answer.headers) if often else DAY)

    def _fetch_model(self) -> None:
        body = _asked(self._transport.request("GET", f"{self._path}/model")).body
        version = version_of(body)
        self._know(version, body)
        with self._vault.transaction():
            self._vault.keep_model(version, body)
            self.models = {kept: self.models[kept] for kept, _ in self._vault.models() if kept in self.models}

    def _know(self, version: str, body: bytes) -> None:
        if isinstance(self._offers, ByModel):
            self.models[version] = model_from(body, self._offers.model, self._offers.dimension)
            self.newest = version

    def _fetch_tickets(self, number: int) -> None:
        assert isinstance(self._offers, ByTicket)
        count = min(number, LARGEST_OFFERS)
        wanted = msgspec.json.encode(OffersRequest(count=count))
        answer = self._transport.request("POST", f"{self._path}/offers", wanted, self._token(count))
        if problem_from(answer.body).name == "task-paused":
            self._vault.set(open=False)
        found = _read(_asked(answer), Offers)
        with self._vault.transaction():
            if found.done:
                recommendation_from(found.recommendation, self._offers)
                self._vault.set(recommendation=msgspec.json.encode(found.recommendation))
            for offer in found.offers[:number]:
                try:
                    action_from(offer.action, self._offers, size(self._terms.mechanism.domain))
                except WireError:
                    self._vault.count("bad_offers")
                    continue
                self._vault.put_ticket(offer.ticket, msgspec.json.encode(offer.action), min(offer.expires, FOREVER))
            self._vault.set(open=True)

    def _token(self, count: int) -> dict[str, str] | None:
        """The header of a request that must be admitted. If the app's function fails, nothing is asked for."""
        if self._admission is None or "admission" not in self._terms.contract.extensions:
            return None
        try:
            token = self._admission(count)
            from_text(token)  # nothing else may become a header
            return {HEADER: token}
        except Exception as error:
            raise WireError(f"the app gave no admission token: {type(error).__name__}") from error


class Backoff:
    """How long to leave a server alone that did not answer: twice as long each time, with chance mixed in."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy, self._failures, self._until = entropy, 0, 0.0

    def ready(self, now: float) -> bool:
        return now >= self._until

    def failed(self, now: float, at_least: float = 0.0) -> None:
        most = min(LONGEST_BACKOFF, 2.0**self._failures)
        self._failures = min(self._failures + 1, 20)
        self._until = now + max(at_least, most * (1 + self._entropy.below(1000) / 1000) / 2)

    def succeeded(self) -> None:
        self._failures, self._until = 0, 0.0


def fates_of(answer: Response, number: int) -> list[str] | float:
    """One word per report; where the server has not judged them, the least number of seconds to wait.

    >>> fates_of(Response(200, {}, b'{"verdicts": ["accepted", "bad-gate"]}'), 2)
    ['accepted', 'bad-gate']
    >>> fates_of(Response(503, {"retry-after": "7"}), 2)
    7.0
    """
    problem, after = problem_from(answer.body).name, answer.headers.get("retry-after", "")
    if answer.status == 200:
        try:
            verdicts = _read(answer, Verdicts).verdicts
        except WireError:
            return 0.0
        return list(verdicts) if len(verdicts) == number else 0.0
    if 400 <= answer.status < 500 and answer.status not in (408, 429) and problem:
        return [problem] * number
    return min(float(after), LONGEST_RETRY_AFTER) if after.isascii() and after.isdigit() else 0.0


def max_age(headers: Mapping[str, str]) -> float:
    """Seconds for which an answer is fresh.

    >>> max_age({"cache-control": "public, max-age=30"}), max_age({})
    (30.0, 60.0)
    """
    found = re.search(r"max-age=(\d{1,9})", headers.get("cache-control", ""))
    return float(found[1]) if found else FRESH


def _asked(answer: Response) -> Response:
    if answer.status != 200:
        raise WireError(f"the server answered with status {answer.status}")
    return answer


def _read(answer: Response, kind: Any) -> Any:
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"not an answer of this protocol: {error}") from error
