"""What may be journalled: reports of devices, with a verdict where they may not, and rows of consented data."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from sottovoce.catalogue.task import learning_of
from sottovoce.privacy.domains import Domain, size
from sottovoce.privacy.gates import measuring_of, mechanisms_of
from sottovoce.privacy.mechanisms import check
from sottovoce.protocol.codec import from_text
from sottovoce.protocol.contract import DAY
from sottovoce.protocol.errors import WireError
from sottovoce.protocol.holdout import holdout_of, purpose_of
from sottovoce.protocol.permits import REPORT_ID_BYTES
from sottovoce.protocol.team import WarmRow
from sottovoce.protocol.wire import ModelReport, ShuffledReport, ShuffledReports, TicketReport, Verdict
from sottovoce.server.problems import Problem
from sottovoce.server.store.base import WARM, Journalled, TaskRow, open_seconds
from sottovoce.server.web.permits import PermitOffice, Shown

CLOSED: dict[str, Verdict] = {"paused": "task-paused", "expired": "task-expired", "done": "task-done"}
"""The verdict where a task is not open."""
LARGEST_NUMBER = 1e100
"""No message has a larger one; its square is still finite."""


class Judge:
    """The rules of one task. A report may answer a model for `open_for` seconds after the next model came."""

    def __init__(self, row: TaskRow, permits: PermitOffice) -> None:
        contract = row.contract
        self._task, self._permits, self._open_for = row.number, permits, open_seconds(contract)
        self._mechanisms, self._measuring = mechanisms_of(contract), measuring_of(contract)
        self._holdout, self._tickets = holdout_of(contract), learning_of(contract).holdout
        self._versions: dict[str, int] = {}
        """Versions that reports may name, and when each was superseded (0: not yet)."""

    def learn_versions(self, superseded: Mapping[str, int], now: float) -> None:
        """Take new versions, the newest with 0; forget those that nobody may name any more."""
        known = {version: since or int(now) for version, since in self._versions.items()} | dict(superseded)
        self._versions = {version: since for version, since in known.items() if not self._too_old(since, now)}

    def __call__(
        self, report: TicketReport | ModelReport, state: Literal["open", "paused", "expired", "done"], now: float
    ) -> Journalled | Verdict:
        """The report as it would be journalled, or why not."""
        by_ticket = isinstance(report, TicketReport)
        permit = self._permits.read(report.ticket if by_ticket else report.permit, report.nonce)
        if permit is None:
            return "bad-permit"
        if now > permit.expires:
            return "expired-permit"
        if not by_ticket and not self._answerable(report.version, now):
            return "unknown-version"
        if state != "open":
            return CLOSED[state]
        if not 0 <= report.gate < len(self._mechanisms):
            return "bad-gate"
        context, measures = self._context(report, permit)
        try:
            payload = self._payload(report.gate, from_text(report.payload), permit.coin, measures)
        except WireError:
            return "bad-payload"
        return Journalled(self._task, permit.id, int(now) // DAY, report.gate, context, payload)

    def shuffled(
        self, batch: ShuffledReports, state: Literal["open", "paused", "expired", "done"], now: float
    ) -> list[Journalled | Verdict]:
        """The same for a batch of a shuffler, which has judged the permits: it is believed about the coins."""
        refusal: Verdict | None = None
        if not self._answerable(batch.version, now):
            refusal = "unknown-version"
        elif state != "open":
            refusal = CLOSED[state]
        elif not 0 <= batch.gate < len(self._mechanisms):
            refusal = "bad-gate"
        return [refusal or self._mixed(report, batch, int(now) // DAY) for report in batch.reports]

    def _mixed(self, report: ShuffledReport, batch: ShuffledReports, day: int) -> Journalled | Verdict:
        try:
            id, payload = from_text(report.id), from_text(report.payload)
            check(self._mechanisms[batch.gate], payload)
        except WireError:
            return "bad-payload"
        if len(id) != REPORT_ID_BYTES:
            return "bad-payload"
        return Journalled(self._task, id, day, batch.gate, bytes.fromhex(batch.version), payload)

    def _context(self, report: TicketReport | ModelReport, permit: Shown) -> tuple[bytes, bool]:
        """What the learner needs to understand the report, and whether it is the reward alone."""
        if isinstance(report, TicketReport):
            measures = self._tickets and permit.memo == held_out(permit.memo)
            return b"the baseline" if measures else permit.memo, False
        purpose = purpose_of(permit.coin, self._holdout.share) if self._holdout else "learning"
        return (bytes.fromhex(report.version), False) if purpose == "learning" else (f"the {purpose}".encode(), True)

    def _payload(self, gate: int, sent: bytes, coin: bytes, measures: bool) -> bytes:
        """What is journalled, if a device could have sent it; one that measures is padded with zeros."""
        mechanism, length = self._mechanisms[gate], len(sent)
        if measures:
            mechanism = self._measuring[gate]
            sent, rest = sent[: mechanism.report_size], sent[mechanism.report_size :]
            if length != self._mechanisms[gate].report_size or any(rest):
                raise WireError("a report that measures has the length of the others, and zeros at the end")
        payload = coin[: mechanism.coin_size] + sent
        check(mechanism, payload)
        return payload

    def _answerable(self, version: str, now: float) -> bool:
        superseded = self._versions.get(version)
        return superseded is not None and not self._too_old(superseded, now)

    def _too_old(self, superseded: int, now: float) -> bool:
        return 0 < superseded < now - self._open_for


def held_out(memo: bytes) -> bytes:
    """The memo of a ticket that plays the baseline: as long as any other, and never one, for no arm is -1."""
    return b"\xff" * len(memo)


def warm_report(task: int, domain: Domain, row: WarmRow, contexts: bytes | Sequence[bytes], day: int) -> Journalled:
    """The row, if it is a message of this domain; `contexts` is what it answers, one for each arm where there are."""
    width, message = size(domain), np.array(row.message)
    within = len(message) == width and bool(np.all(np.abs(message) < LARGEST_NUMBER))
    if not (within and domain.contains(message)):
        raise Problem("bad-request", f"a message of this task has {width} numbers within {domain}")
    if isinstance(contexts, bytes):
        context = contexts
    elif row.action is None or not 0 <= row.action < len(contexts):
        raise Problem("bad-request", f"an action of this task is a number below {len(contexts)}")
    else:
        context = contexts[row.action]
    return Journalled(task, secrets.token_bytes(REPORT_ID_BYTES), day, WARM, context, message.astype(">f8").tobytes())
