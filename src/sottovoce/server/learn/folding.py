"""One task's learner, carried forward report by report: state is a fold over the journal.

What happens here depends on the journal and on counts alone, never on time or on how reports were grouped: the compiled
fold always takes CHUNK places, some of them empty, so the same journal gives the same bits. A new model (or pool of
offers) is published when the engine's `Schedule` says so, and when the learner is done.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from sottovoce.catalogue.task import holds_out, learning_of, task_of
from sottovoce.engine import step
from sottovoce.engine.complete import Complete, complete
from sottovoce.engine.schedule import Schedule
from sottovoce.engine.step import weight_of
from sottovoce.learners import learner_of
from sottovoce.privacy.domains import Domain, size
from sottovoce.privacy.gates import mechanisms_of
from sottovoce.privacy.mechanisms import check
from sottovoce.protocol.contract import ByTicket, Contract
from sottovoce.protocol.errors import SottovoceError
from sottovoce.server.learn import leaves
from sottovoce.server.learn.alarm import Alarm
from sottovoce.server.learn.measuring import NOTHING, Held, Meter, mean_of
from sottovoce.server.learn.publishing import Remembered, Said, ask_once, publication_of
from sottovoce.server.store.base import MEASURES, WARM, Entry, Journalled, Publication, Snapshot, Unread

CHUNK = 64
"""Places of the compiled fold. Fewer would call it more often; more would compute empty places more often, since a
busy server wakes its learner with a few dozen reports. Another number may change the last bits of a replay."""
UNREADABLE = (LookupError, ValueError, SottovoceError)
"""What reading an entry raises that is not of this task: unknown gate or version, wrong length, no finite number."""


class Progress(NamedTuple):
    """Everything that a snapshot holds."""

    state: Any
    pulls: NDArray[np.float64]
    """Weight of the private reports of each arm, for the summary; empty where there are no arms."""
    total: NDArray[np.float64]
    """Sum of their estimates."""
    held: Held | tuple[()] = ()
    """What the reports of a holdout say; nothing where none is declared."""


class Fold:
    """A task's state and how it moves on. Use it within `jax.enable_x64(True)`.

    `secret` is the server's: what is published follows from it, the task and the count of reports.
    """

    def __init__(
        self, contract: Contract, secret: bytes, snapshot: Snapshot | None = None, memos: Mapping[str, bytes] = {}
    ) -> None:
        self.contract, self._secret, task = contract, secret, task_of(contract)
        self._mechanisms = mechanisms_of(contract)
        noises = [mechanism.noise() for mechanism in self._mechanisms]
        self._weights = {gate: weight_of(noises[0], noise) for gate, noise in enumerate(noises)} | {WARM: 1.0}
        self._spread = noises[0].proxy
        self._domain = self._mechanisms[0].domain
        self.learner = complete(learner_of(task, noises[0]))
        self.schedule = Schedule(learning_of(contract).publish_every, self.learner.growth)
        self._arms = contract.offers.arms if isinstance(contract.offers, ByTicket) else 0
        self._meter = Meter(contract) if holds_out(contract) else None
        held = NOTHING if self._meter else ()
        first = Progress(start(self.learner), np.zeros(self._arms), np.zeros(self._arms), held)
        offer = jax.eval_shape(ask_once, self.learner, first.state, jax.random.key(0))
        self._remembered = Remembered(offer.memo, offer.arm)
        self._remembers = bool(jax.tree.leaves(self._remembered))
        self._memos = dict(memos)
        self.learned = self.seq = self.published = 0
        self.alarm = Alarm(self._mechanisms[0])
        self.unread: list[Unread] = []
        """Entries that could not be read; the state is that of a journal without them."""
        if snapshot:
            self.learned, self.seq, self.published = snapshot.learned, snapshot.seq, snapshot.published
            first = leaves.unpack(first, snapshot.state)
        self.progress = jax.tree.map(jnp.asarray, first)

    def advance(self, entries: Sequence[Entry]) -> Iterator[Publication]:
        """Fold these entries in, stopping wherever a publication is due."""
        entries = [entry for entry in entries if entry.seq > self.seq]
        while entries:
            reach = min(self.schedule.every - self.learned % self.schedule.every, CHUNK)
            part, entries = entries[:reach], entries[reach:]
            was_done = self.done()
            self._fold(part)
            self.seq = part[-1].seq
            if not was_done and (self.schedule.due(self.learned, self.published) or self.done()):
                yield self.publish()

    def _fold(self, entries: Sequence[Entry]) -> None:
        entries = self._measure(entries)
        if not entries:
            return
        try:
            places = self._places([entry.report for entry in entries])
        except UNREADABLE:
            reports = [entry.report for entry in entries if self._reads(entry)]
            if not reports:
                return
            places = self._places(reports)
        self.progress, told = fold(self._domain, self._arms, self.learner, self.progress, places)
        self.learned += int(told)
        _, _, messages, weights, private, _ = places
        self.alarm.see(messages[private & (weights == 1.0)])  # quieter reports are noisier

    def _measure(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Add up the entries that measure; those to learn from are returned."""
        if not (self._meter and self.progress.held):
            return entries
        held = self.progress.held
        for entry in entries:
            if entry.report.context in MEASURES:
                try:
                    held = self._meter.add(held, entry.report)
                    self.learned += 1
                except UNREADABLE as error:
                    self.unread.append(Unread(entry.seq, type(error).__name__))
        self.progress = self.progress._replace(held=held)
        return [entry for entry in entries if entry.report.context not in MEASURES]

    def _reads(self, entry: Entry) -> bool:
        try:
            self._places([entry.report])
        except UNREADABLE as error:
            self.unread.append(Unread(entry.seq, type(error).__name__))
            return False
        return True

    def _places(self, reports: Sequence[Journalled]) -> Any:
        """What the compiled fold takes."""
        count = len(reports)
        contexts = [self._context(report) for report in reports]
        memos, arms = leaves.unpack_rows(self._remembered, contexts + contexts[:1] * (CHUNK - count))
        weights, private = np.ones(CHUNK), np.zeros(CHUNK, bool)
        weights[:count] = [self._weights[report.gate] for report in reports]
        private[:count] = [report.gate != WARM for report in reports]
        return memos, arms, self._messages(reports), weights, private, np.arange(CHUNK) < count

    def _messages(self, reports: Sequence[Journalled]) -> NDArray[np.float64]:
        """Estimates of the messages, one a place; reports through the same gate are decoded together."""
        messages = np.zeros((CHUNK, size(self._domain)))
        for gate in {report.gate for report in reports}:
            rows = [i for i, report in enumerate(reports) if report.gate == gate]
            payloads = [reports[i].payload for i in rows]
            if gate == WARM:
                messages[rows] = np.frombuffer(b"".join(payloads), ">f8").reshape(len(rows), -1)
            else:
                for payload in payloads:
                    check(self._mechanisms[gate], payload)
                messages[rows] = self._mechanisms[gate].decode(payloads)
        if not np.all(np.isfinite(messages)):
            raise ValueError("a message has finite numbers")
        return messages

    def _context(self, report: Journalled) -> bytes:
        """What its offer was remembered by: it came with the ticket, or was kept with the version of the model."""
        if isinstance(self.contract.offers, ByTicket):
            return report.context
        return self._memos[report.context.hex()] if self._remembers else b""

    def done(self) -> bool:
        return self.learner.stops and bool(is_done(self.learner, self.progress.state))

    def publish(self) -> Publication:
        """Refresh the state, from which offers are made until the next publication; what they are made from."""
        if self.learned:
            self.progress = self.progress._replace(state=refresh(self.learner, self.progress.state))
        self.published = self.learned
        found = publication_of(
            self.contract, self._secret, self.learner, self.progress.state, self.learned, self.done(), self._said()
        )
        if found.memo:
            self._memos[found.version] = found.memo
        return found

    def _said(self) -> Said:
        """Of every arm: how many private reports, the mean reward that they say, and its standard error.

        Of a holdout: the same of the baseline and of the choice. Tickets that teach all measure the choice.
        """
        pulls, total = (np.asarray(sums).tolist() for sums in (self.progress.pulls, self.progress.total))
        arms = [mean_of(n, s, self._spread) for n, s in zip(pulls, total, strict=True)]
        if not (self._meter and self.progress.held):
            return Said(arms, [], 0)
        means = self._meter.means(self.progress.held, (sum(pulls), sum(total)))
        return Said(arms, means, int(np.sum(self.progress.held.reports)))

    def snapshot(self) -> Snapshot:
        return Snapshot(self.learned, self.seq, self.published, leaves.pack(self.progress))

    def digest(self) -> str:
        """A hash of everything learned."""
        return leaves.digest(self.progress)


# --- the compiled parts: configuration and state are arguments, so tasks of one shape share them ---------------------

start, refresh, is_done = jax.jit(step.start), jax.jit(Complete.refresh), jax.jit(Complete.done)


@functools.partial(jax.jit, static_argnums=(0, 1))
def fold(domain: Domain, arms: int, learner: Complete, progress: Progress, places: Any) -> tuple[Progress, jax.Array]:
    """Tell the reports in the filled places in order, until the learner is done; how many were told.

    `places` are arrays of CHUNK. Consented data in the clear is not private: it is told, and not counted by arm.
    """

    def one(progress: Progress, place: Any) -> tuple[Progress, jax.Array]:
        memo, arm, message, weight, private, filled = place
        estimate = domain.extract(message)
        state, told = step.learn(learner, progress.state, step.Answer(memo, estimate, weight), filled)
        after = progress._replace(state=state)
        if arms:
            counted = (jnp.arange(arms) == arm) & private & told
            share = jnp.where(counted, weight, 0.0)
            after = after._replace(pulls=progress.pulls + share, total=progress.total + share * estimate)
        return after, told

    progress, told = lax.scan(one, progress, places)
    return progress, jnp.sum(told)
