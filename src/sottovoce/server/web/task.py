"""One task in the web process: what it serves now, and how many reports it has. No learning here."""

import asyncio
import datetime
import secrets
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from sottovoce.catalogue.task import learning_of
from sottovoce.privacy.gates import mechanisms_of
from sottovoce.protocol import team, wire
from sottovoce.protocol.contract import DAY, ByModel, digest_of
from sottovoce.server.coordination.messages import News
from sottovoce.server.problems import Problem, not_ready
from sottovoce.server.store.base import (
    Journalled,
    Publication,
    Published,
    TaskRow,
    UnitEstimate,
    permit_seconds,
)
from sottovoce.server.web.balance import Balance
from sottovoce.server.web.gain import gain_of
from sottovoce.server.web.judging import Judge, held_out, warm_report
from sottovoce.server.web.permits import PermitOffice, committed
from sottovoce.server.web.tokens import TokenDesk

State = Literal["open", "paused", "expired", "done"]
BROKEN_SECONDS = 3600
"""When to ask again for a task whose learner fails: somebody must look at it first."""


class LiveTask:
    """What the learner published last is served; what devices send is judged; what was accepted is counted."""

    def __init__(
        self,
        row: TaskRow,
        key: bytes,
        counts: tuple[int, int] = (0, 0),
        tokens: TokenDesk | None = None,
        shared: bool = False,
    ) -> None:
        self.row, self.contract, self.digest = row, row.contract, digest_of(row.body)
        self.reports, self.warm = counts
        self.tokens = tokens
        """None where anybody may ask for tickets."""
        self.refused: Counter[str] = Counter()
        """Since the server started, by verdict."""
        self.balance = Balance(self.contract.id)
        self.news = News(task=row.number)
        self.prepared = asyncio.Event()
        """Set once there is something to serve, or the learner has failed."""
        self.answered = asyncio.Event()
        """Set when the learner has answered a wish to roll back."""
        self.broken = False
        """Did its learner fail?"""
        self.origins = frozenset(learning_of(self.contract).origins)
        self.batch = shuffling.batch if (shuffling := learning_of(self.contract).shuffler) else 0
        """The least number of reports in a batch of its shuffler; 0 where devices report to this server."""
        self.reports_type = wire.ModelReports if isinstance(self.contract.offers, ByModel) else wire.TicketReports
        self._mechanisms = mechanisms_of(self.contract)
        self._permits = PermitOffice(key, self.digest)
        self._judge = Judge(row, self._permits)
        self._holdout = learning_of(self.contract).holdout
        last_day = datetime.datetime.combine(self.contract.expires, datetime.time(), datetime.UTC)
        self._expiry = last_day.timestamp() + DAY
        self._published: Published | None = None
        self.published_after = -1
        """How many reports were folded when the newest publication was made."""
        self.version = ""
        """Of the newest model."""
        self._dealt = 0
        """Offers of the pool that were handed out."""
        self._places = learning_of(self.contract).publish_every if shared else 1
        """Where in the pool a process may begin: several begin apart, among the offers that one would hand out."""
        self._first = 0

    # --- what the learner published ----------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        return self._published is not None

    @property
    def published(self) -> Published:
        if self._published is None and self.broken:
            raise not_ready(f"the learner of {self.contract.id} fails; the server's log says where", BROKEN_SECONDS)
        if self._published is None:
            raise not_ready("the first offer is being prepared; ask again")
        return self._published

    def take(self, publications: Sequence[Publication], now: float) -> None:
        """What is new since the last time: the newest is served, the versions before it are understood for a while."""
        if not publications:
            return
        newest = publications[-1]
        self._published = msgspec.msgpack.decode(newest.body, type=Published)
        self._judge.learn_versions({one.version: one.superseded for one in publications if one.version}, now)
        self.version, self.published_after, self._dealt = newest.version, newest.learned, 0
        self._first = secrets.randbelow(self._places)
        self.prepared.set()

    # --- what is served ----------------------------------------------------------------------------------------------

    def state(self, now: float) -> State:
        """Are reports wanted now, and if not, why?"""
        if self.row.paused:
            return "paused"
        if now >= self._expiry:
            return "expired"
        return "done" if self._published and self._published.done else "open"

    def status(self, now: float) -> wire.TaskStatus:
        return wire.TaskStatus(
            id=self.contract.id, digest=self.digest, mode=self.row.mode, state=self.state(now), version=self.version
        )

    def model(self) -> bytes:
        """The same bytes for everyone until the next publication."""
        if not isinstance(self.contract.offers, ByModel):
            raise Problem("wrong-kind", "this task hands out tickets: POST to offers")
        return self.published.model

    def permits(self, commitments: Sequence[str], now: float) -> wire.Permits:
        asked, expires = self.check(commitments, now, permits=True), self._expires(now)
        issued = [self._permits.issue(one, expires) for one in asked]
        return wire.Permits(permits=[wire.Permit(permit=permit, expires=expires) for permit in issued])

    def offers(self, commitments: Sequence[str], now: float) -> wire.Offers:
        """Tickets; or none and the recommendation."""
        asked, published = self.check(commitments, now, permits=False), self.published
        if published.done:
            return wire.Offers(offers=[], done=True, recommendation=published.recommendation)
        expires = self._expires(now)
        return wire.Offers(offers=[self._offer(published, one, expires) for one in asked])

    def check(self, commitments: Sequence[str], now: float, *, permits: bool) -> list[bytes]:
        """What permits, or tickets, are asked for with; a problem where there are none to be had."""
        if permits and not isinstance(self.contract.offers, ByModel):
            raise Problem("wrong-kind", "this task hands out tickets: POST to offers")
        if not permits and isinstance(self.contract.offers, ByModel):
            raise Problem("wrong-kind", "this task has a model for everybody: GET model")
        self.check_direct()
        if permits or not self.published.done:
            self._expires(now)
        return committed(commitments)

    def _expires(self, now: float) -> int:
        """When a permit that is issued now ends; none is issued while no reports are wanted."""
        if (state := self.state(now)) != "open":
            raise Problem(f"task-{state}", f"{self.contract.id} takes no reports now")
        return int(now) + permit_seconds(self.contract)

    def _offer(self, published: Published, commitment: bytes, expires: int) -> wire.TicketOffer:
        """The next offer of the pool; when it is used up, any of it. By chance the baseline, in a holdout."""
        pool, next_one = published.offers, self._dealt
        if self._holdout and secrets.randbelow(2**48) / 2**48 < float(self._holdout.share):
            ticket = self._permits.issue(commitment, expires, held_out(pool[0].memo))
            return wire.TicketOffer(ticket=ticket, action=self._holdout.baseline, expires=expires)
        self._dealt += 1
        place = self._first + next_one if next_one < len(pool) else secrets.randbelow(len(pool))
        offer = pool[place % len(pool)]
        ticket = self._permits.issue(commitment, expires, offer.memo)
        return wire.TicketOffer(ticket=ticket, action=offer.action, expires=expires)

    # --- what is taken -----------------------------------------------------------------------------------------------

    def judge(
        self, reports: Sequence[wire.TicketReport] | Sequence[wire.ModelReport], now: float
    ) -> list[Journalled | wire.Verdict]:
        """Each report as it would be journalled, or why not."""
        state = self.state(now)
        return [self._judge(report, state, now) for report in reports]

    def judge_batch(self, batch: wire.ShuffledReports, now: float) -> list[Journalled | wire.Verdict]:
        """The same for a batch of the task's shuffler; one that is too small is refused as a whole."""
        if not self.batch:
            raise Problem("wrong-kind", "this task declares no shuffler: its devices report to the server")
        if len({report.id for report in batch.reports}) < self.batch:
            raise Problem("bad-request", f"a batch of this task has at least {self.batch:,} different reports")
        return self._judge.shuffled(batch, self.state(now), now)

    def check_direct(self) -> None:
        """Refuse what a device sends or asks here, where all of it belongs to the task's shuffler."""
        if self.batch:
            raise Problem("wrong-kind", "this task hears its shuffler alone: give devices the address of that one")

    def count(self, verdict: wire.Verdict, reports: int) -> bool:
        """Were they refused?"""
        if verdict in ("accepted", "duplicate"):
            self.reports += reports * (verdict == "accepted")
            return False
        self.refused[verdict] += reports
        return True

    def warm_reports(self, rows: Sequence[team.WarmRow], now: float) -> list[Journalled]:
        """Consented data in the clear, as the journal keeps it."""
        contexts = bytes.fromhex(self.version) or self.published.contexts
        if self.reports:
            raise Problem("too-late", "a task is warmed up before its first report")
        if not contexts:
            raise Problem(
                "wrong-kind",
                f"{learning_of(self.contract).learner} weighs reports by the chance of their offer, which such data do "
                "not have; warm up thompson, kl-ucb or ucb instead",
            )
        domain, day = self._mechanisms[0].domain, int(now) // DAY
        return [warm_report(self.row.number, domain, row, contexts, day) for row in rows]

    @property
    def behind(self) -> int:
        """Reports and rows that the learner has not come to yet."""
        dealt_with = self.news.learned + self.news.unread + self.news.left_out
        return max(0, self.reports + self.warm - dealt_with)

    # --- what was learned --------------------------------------------------------------------------------------------

    def summary(self) -> team.Summary:
        published, news = self.published, self.news
        return team.Summary(
            id=self.contract.id,
            reports=self.reports,
            warm=self.warm,
            learned=news.learned,
            published=news.published,
            refused=dict(self.refused),
            done=published.done,
            recommendation=published.recommendation,
            version=self.version,
            epsilon=self.contract.gates[0].epsilon,
            bytes_per_report=self._mechanisms[0].report_size,
            estimates=self._estimates(published),
            gain=gain_of(self.contract, published),
            changes=published.changes,
            state=news.state,
            unread=news.unread,
            left_out=news.left_out,
            suspicious=news.suspicious,
            discarding=self.balance.discarding,
            set_aside=self.broken,
        )

    def _estimates(self, published: Published) -> list[team.ArmEstimate]:
        """Arms with their name and how often they are offered; what a model says of its actions is in the model."""
        dealt, pool = Counter(offer.action for offer in published.offers if published.estimates), len(published.offers)
        return [self._estimate(arm, dealt[arm] / max(pool, 1), one) for arm, one in enumerate(published.estimates)]

    def _estimate(self, arm: int, share: float, unit: UnitEstimate) -> team.ArmEstimate:
        """In the units of the task."""
        terms = self.contract.reward
        return team.ArmEstimate(
            action=self.contract.offers.actions[arm],
            share=share,
            reports=unit.reports,
            reward=None if unit.mean is None else terms.from_unit(unit.mean),
            error=None if unit.error is None else unit.error * terms.scale,
        )
