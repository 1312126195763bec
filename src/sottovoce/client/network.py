"""Everything for which a device needs its server. A bad network raises nothing after joining, and locks nothing."""

import logging
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from sottovoce.client.http import Response, Transport, asked, read
from sottovoce.client.ledger import Limits
from sottovoce.client.permits import Admission, Stock
from sottovoce.client.tables import OutboxRow
from sottovoce.client.terms import Terms, accept, expired
from sottovoce.client.vault import Vault
from sottovoce.privacy.drawing import Entropy
from sottovoce.protocol.contract import DAY, ByModel, digest_of
from sottovoce.protocol.errors import ConfigurationError, ContractChanged, ContractRefused, Unreachable, WireError
from sottovoce.protocol.offers import model_from, version_of
from sottovoce.protocol.problems import problem_from
from sottovoce.protocol.wire import TaskStatus, Verdicts

SUSPICIOUS = {"bad-gate", "bad-payload", "unknown-version"}
"""Verdicts after which the device looks at the contract and the model again."""
FRESH = 60.0
"""Seconds that an answer is fresh when the server does not say."""
LARGEST_CONTRACT = 2**20
"""Bytes."""
LARGEST_NUMBER = 32
"""Characters that a number of a model may take, on average."""
LONGEST_BACKOFF = 3600.0
LONGEST_RETRY_AFTER = 86400.0

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
    if len(answer.body) > LARGEST_CONTRACT:
        raise ContractRefused(f"the contract of {task!r} has {len(answer.body):,} bytes: refused")
    return answer.body


class Network:
    """Takes reports out, and brings models, tickets and news of the task in."""

    def __init__(
        self, vault: Vault, terms: Terms, transport: Transport, entropy: Entropy, admission: Admission | None = None
    ) -> None:
        self._vault, self._terms, self._transport, self._entropy = vault, terms, transport, entropy
        self._offers, self._path = terms.contract.offers, f"/v1/tasks/{terms.contract.id}"
        self._backoff = Backoff(entropy)
        self._asked_again = -math.inf
        """When the status must be asked for again."""
        self.stock = Stock(vault, terms, transport, entropy, admission)
        self.contract_changed = False
        """Then nothing is promised any more."""
        self.models: dict[str, Any] = {}
        """The models by version: the newest, and those by which an open decision was made."""
        self.newest: str | None = None
        for version, body in vault.models():
            self._know(version, body)

    # --- out ---------------------------------------------------------------------------------------------------------

    def deliver(self, now: float, *, force: bool) -> tuple[int, int]:
        """How many reports were acknowledged, and how many refused for good.

        Each was delayed by itself and leaves by itself, in a request of its own. What was withdrawn meanwhile stays.
        """
        acknowledged = refused = 0
        if not (self._backoff.ready(now) and self._vault.standing().open):
            return acknowledged, refused
        for row in self._in_random_order(self._vault.outbox(math.inf if force else now)):
            if not self._vault.waits(row):
                continue
            fate = self._fate(row)
            if not isinstance(fate, str):
                self._backoff.failed(now, at_least=fate)
                break
            self._backoff.succeeded()
            if fate == "task-paused":  # keep the rest, and ask after a while whether it is open again
                self._vault.set(open=False)
                self._asked_again = now + FRESH
                break
            with self._vault.transaction():
                self._vault.settle(row, fate)
            taken = fate in ("accepted", "duplicate")
            acknowledged, refused = acknowledged + taken, refused + (not taken)
            if fate in SUSPICIOUS:
                self._asked_again = -math.inf
        return acknowledged, refused

    def _fate(self, row: OutboxRow) -> str | float:
        """What the server says of a report: exactly the bytes that lie in the outbox are sent."""
        body = b'{"reports":[' + row.report + b"]}"
        try:
            return fate_of(self._transport.request("POST", f"{self._path}/reports", body))
        except OSError:
            return 0.0

    def _in_random_order(self, rows: list[OutboxRow]) -> list[OutboxRow]:
        for last in range(len(rows) - 1, 0, -1):
            other = self._entropy.below(last + 1)
            rows[last], rows[other] = rows[other], rows[last]
        return rows

    # --- in ----------------------------------------------------------------------------------------------------------

    def renew(self, now: float, *, reporting: bool) -> None:
        """What is old is asked for again: the status, with it the model; and permits or tickets that may be used."""
        if now >= self._asked_again:
            self.ask_status(now)
        if reporting and not self.contract_changed and (number := self.stock.due(now)):
            self.fetch(number, now)

    def ask_status(self, now: float) -> None:
        self._try(lambda: self._ask_status(now), now)

    def fetch(self, number: int, now: float) -> None:
        """So many permits or tickets."""
        self._try(lambda: self.stock.fetch(number), now)

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
        answer = asked(self._transport.request("GET", self._path))
        status = read(answer, TaskStatus)
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
        body = asked(self._transport.request("GET", f"{self._path}/model")).body
        if len(body) > LARGEST_NUMBER * (self._offers.dimension + 3) ** 2:
            raise WireError(f"a model of {len(body):,} bytes is not one of this task")
        version = version_of(body)
        self._know(version, body)
        with self._vault.transaction():
            self._vault.keep_model(version, body)
            self.models = {kept: self.models[kept] for kept, _ in self._vault.models() if kept in self.models}

    def _know(self, version: str, body: bytes) -> None:
        if isinstance(self._offers, ByModel):
            self.models[version] = model_from(body, self._offers.model, self._offers.dimension)
            self.newest = version


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


def fate_of(answer: Response) -> str | float:
    """The server's word on the report; where it has not judged it, the least number of seconds to wait.

    >>> fate_of(Response(200, {}, b'{"verdicts": ["bad-gate"]}'))
    'bad-gate'
    >>> fate_of(Response(503, {"retry-after": "7"}))
    7.0
    """
    problem, after = problem_from(answer.body).name, answer.headers.get("retry-after", "")
    if answer.status == 200:
        try:
            (verdict,) = read(answer, Verdicts).verdicts
        except (WireError, ValueError):
            return 0.0
        return verdict
    if 400 <= answer.status < 500 and answer.status not in (408, 429) and problem:
        return problem
    return min(float(after), LONGEST_RETRY_AFTER) if after.isascii() and after.isdigit() else 0.0


def max_age(headers: Mapping[str, str]) -> float:
    """Seconds for which an answer is fresh.

    >>> max_age({"cache-control": "public, max-age=30"}), max_age({})
    (30.0, 60.0)
    """
    found = re.search(r"max-age=(\d{1,9})", headers.get("cache-control", ""))
    return float(found[1]) if found else FRESH
