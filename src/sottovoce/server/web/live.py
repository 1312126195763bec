"""One task as the web process holds it: judges reports, hands out tickets, serves the model. No learning here."""

import asyncio
import datetime
import hashlib
import secrets
import time
from collections import Counter
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from sottovoce.catalogue.resolve import mechanism_from
from sottovoce.privacy.domains import size
from sottovoce.privacy.reading import check, report_size
from sottovoce.protocol.codec import from_text
from sottovoce.protocol.contract import DAY, Status
from sottovoce.protocol.errors import WireError
from sottovoce.protocol.wire import (
    REPORT_ID_BYTES,
    ModelDocument,
    ModelReport,
    Offers,
    Summary,
    TaskDocument,
    TicketOffer,
    TicketReport,
    Verdict,
    WarmRow,
)
from sottovoce.server.coordination import News
from sottovoce.server.published import Published, open_seconds
from sottovoce.server.store import WARM, Publication, Report, TaskRow
from sottovoce.server.web.problems import Problem
from sottovoce.server.web.tickets import Seal

LARGEST_NUMBER = 1e100
"""No message has a larger one; its square is still finite."""


class Origin(NamedTuple):
    """Which report this is, and to what it answers."""

    id: bytes
    context: bytes


class Representation(NamedTuple):
    body: bytes
    etag: str
    open: bool


class LiveTask:
    """See the module's first line."""

    def __init__(self, row: TaskRow, key: bytes, reports: int, warm: int) -> None:
        self.number, self.contract, self.status = row
        self.digest = self.contract.digest()
        self.reports = reports
        """In the journal, those of consented data included."""
        self.warm = warm
        """Those of consented data."""
        self.refused: dict[str, int] = {}
        self.news: News | None = None
        self._seal = Seal(key, self.digest)
        self._mechanisms = [mechanism_from(self.contract.task, gate) for gate in self.contract.gates]
        self._open_for = open_seconds(self.contract)
        last_day = datetime.datetime.combine(self.contract.expires, datetime.time(), datetime.UTC)
        self._expiry = last_day.timestamp() + DAY
        self._published: Published | None = None
        self.published_after = -1
        """How many reports were folded when the newest publication was made."""
        self._version = ""
        self._versions: dict[str, int] = {}
        """Versions that reports may name, and when each was superseded (0: not yet)."""
        self._turn = 0
        self._model: Representation | None = None
        self.prepared = asyncio.Event()
        self.broken = False
        """Did its learner fail?"""

    # --- what the learner published ----------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        return self._published is not None

    @property
    def published(self) -> Published:
        if self._published is None:
            raise Problem("not-ready", "the first offer is being prepared; ask again", retry_after=1)
        return self._published

    def take(self, publications: list[Publication], now: float) -> None:
        """What is new since the last time: the newest is served, the versions are understood for a while."""
        if not publications:
            return
        newest = publications[-1]
        self._published = msgspec.msgpack.decode(newest.body, type=Published)
        last = {self._version: int(now)} if self._version else {}
        known = self._versions | last | {one.version: one.superseded for one in publications if one.version}
        open_since = now - self._open_for
        self._versions = {version: since for version, since in known.items() if not 0 < since < open_since}
        self._version, self.published_after = newest.version, newest.learned
        self._turn = 0
        self._model = self._model_document()
        self.prepared.set()

    # --- offers ------------------------------------------------------------------------------------------------------

    def model(self) -> Representation:
        """The model document; the same bytes for everyone until the next publication."""
        if self.contract.offers != "model":
            raise Problem("wrong-kind", "this task hands out tickets: POST to offers")
        if self._model is None:
            raise Problem("not-ready", "the first model is being prepared; ask again", retry_after=1)
        if self._model.open != (self.closed(time.time()) is None):  # it has expired since
            self._model = self._model_document() or self._model
        return self._model

    def offers(self, count: int, now: float) -> Offers:
        if self.contract.offers != "tickets":
            raise Problem("wrong-kind", "this task has a model for everybody: GET model")
        published = self.published
        if published.done:
            return Offers(offers=[], done=True, recommendation=published.recommendation)
        if closed := self.closed(now):
            raise Problem(closed, f"{self.contract.id} makes no offers now")
        expires = int(now) + self._open_for
        return Offers(offers=[self._ticket(published, expires) for _ in range(count)])

    def _ticket(self, published: Published, expires: int) -> TicketOffer:
        """The next offer of the pool; when it is used up, any of it."""
        pool, self._turn = published.offers, self._turn + 1
        offer = pool[self._turn - 1] if self._turn <= len(pool) else pool[secrets.randbelow(len(pool))]
        return TicketOffer(ticket=self._seal.issue(expires, offer.memo), action=offer.action, expires=expires)

    # --- reports -----------------------------------------------------------------------------------------------------

    def judge_tickets(self, reports: list[TicketReport], now: float) -> list[Report | Verdict]:
        """Each report as it would be journalled, or why not."""
        return [self._judge(one, self._opened(one.ticket, now), now) for one in reports]

    def judge_models(self, reports: list[ModelReport], now: float) -> list[Report | Verdict]:
        return [self._judge(one, self._named(one, now), now) for one in reports]

    def _judge(self, report: TicketReport | ModelReport, origin: Origin | Verdict, now: float) -> Report | Verdict:
        if isinstance(origin, str):
            return origin
        if closed := self.closed(now):
            return closed
        if not 0 <= report.gate < len(self._mechanisms):
            return "bad-gate"
        try:
            payload = from_text(report.payload)
            check(self._mechanisms[report.gate], payload)
        except WireError:
            return "bad-payload"
        return Report(self.number, origin.id, int(now) // DAY, report.gate, origin.context, payload)

    def _opened(self, text: str, now: float) -> Origin | Verdict:
        ticket = self._seal.open(text)
        if ticket is None:
            return "bad-ticket"
        return Origin(ticket.id, ticket.memo) if now <= ticket.expires else "expired-ticket"

    def _named(self, report: ModelReport, now: float) -> Origin | Verdict:
        try:
            id = from_text(report.id)
        except WireError:
            return "bad-id"
        if len(id) != REPORT_ID_BYTES:
            return "bad-id"
        superseded = self._versions.get(report.version)
        if superseded is None or 0 < superseded < now - self._open_for:
            return "unknown-version"
        return Origin(id, bytes.fromhex(report.version))

    def count(self, verdict: Verdict, reports: int) -> None:
        if verdict == "accepted":
            self.reports += reports
        elif verdict != "duplicate":
            self.refused[verdict] = self.refused.get(verdict, 0) + reports

    def closed(self, now: float) -> Literal["task-paused", "task-expired", "task-done"] | None:
        """Why nothing is heard now, if so."""
        if self.status.paused:
            return "task-paused"
        if now >= self._expiry:
            return "task-expired"
        return "task-done" if self.published.done else None

    def warm_reports(self, rows: list[WarmRow], now: float) -> list[Report]:
        """Consented data in the clear, as the journal keeps it."""
        if not self.ready:
            raise Problem("not-ready", "the first offer is being prepared; ask again", retry_after=1)
        if self.reports > self.warm:
            raise Problem("too-late", "a task is warmed up before it hears its first report")
        return [self._warm(row, int(now) // DAY) for row in rows]

    def _warm(self, row: WarmRow, day: int) -> Report:
        width = size(self._mechanisms[0].domain)
        message = np.array(row.message)
        within = len(message) == width and np.all(np.abs(message) < LARGEST_NUMBER)
        if not (within and self._mechanisms[0].domain.contains(message)):
            raise Problem(
                "bad-request", f"a message of this task has {width} numbers within {self.contract.task.domain}"
            )
        context = bytes.fromhex(self._version) if self.contract.offers == "model" else self._context_of(row.action)
        payload = message.astype(">f8").tobytes()
        return Report(self.number, secrets.token_bytes(REPORT_ID_BYTES), day, WARM, context, payload)

    def _context_of(self, action: int | None) -> bytes:
        """What the learner needs to understand a report of this arm that answers no offer."""
        if action is None or not 0 <= action < self.contract.task.arms:
            raise Problem("bad-request", f"an action of this task is a number below {self.contract.task.arms}")
        if not self.published.contexts:
            raise Problem(
                "wrong-kind",
                f"{self.contract.task.learner} weighs reports by the chance of their offer, which such data do not "
                "have; warm up thompson, kl-ucb or ucb instead",
            )
        return self.published.contexts[action]

    # --- documents ---------------------------------------------------------------------------------------------------

    def set_status(self, status: Status) -> None:
        self.status = status
        if self.ready:
            self._model = self._model_document()

    def document(self) -> TaskDocument:
        return TaskDocument(contract=self.contract, digest=self.digest, status=self.status)

    def summary(self) -> Summary:
        published, news = self.published, self.news
        return Summary(
            id=self.contract.id,
            reports=self.reports,
            learned=news.learned if news else 0,
            published=news.published if news else 0,
            refused=dict(self.refused),
            done=published.done,
            recommendation=published.recommendation,
            version=self._version,
            epsilon=self.contract.task.epsilon,
            bytes_per_report=report_size(self._mechanisms[0]),
            estimates=self._estimates(published),
            state=news.state if news else "",
        )

    def _estimates(self, published: Published) -> list[dict[str, Any]]:
        """Arms with their name and how often they are offered; a model's coefficients are in the model."""
        if not published.estimates:
            return []
        names, offered = self.contract.actions, Counter(offer.action for offer in published.offers)
        return [
            {"action": name, "share": offered[arm] / max(len(published.offers), 1)} | estimate
            for arm, (name, estimate) in enumerate(zip(names, published.estimates, strict=True))
        ]

    def _model_document(self) -> Representation | None:
        if self.contract.offers != "model" or not self.published.model:
            return None
        document = ModelDocument(
            version=self._version,
            kind="generalized" if "anchor" in self.published.model else "linear",
            model=self.published.model,
            mode=self.status.mode,
            open=self.closed(time.time()) is None,
        )
        body = msgspec.json.encode(document)
        return Representation(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"', document.open)
