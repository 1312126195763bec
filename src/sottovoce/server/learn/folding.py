"""One task's learner, carried forward report by report: state is a fold over the journal.

What happens here depends on the journal and on counts alone, never on time or on how reports were grouped: the compiled
fold always takes CHUNK places, some of them empty, so the same journal gives the same bits. A new model (or pool of
offers) is published after every `publish_every` reports, thinned by the learner's `growth`.
"""

import functools
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import msgspec
import numpy as np
from jax import lax
from numpy.typing import NDArray

from sottovoce.catalogue.task import algorithm_of, learning_of, task_of
from sottovoce.learners import learner_of
from sottovoce.learners.weighing import told, weight_of
from sottovoce.privacy.decode import decode_messages, noise_of
from sottovoce.privacy.domains import Domain, size
from sottovoce.privacy.gates import mechanisms_of
from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.protocol.offers import model_body, version_of
from sottovoce.server.learn import leaves
from sottovoce.server.published import PooledOffer, Published, UnitEstimate, recommended
from sottovoce.server.store import WARM, Entry, Publication, Report, Snapshot

CHUNK = 64
POOL = (64, 1024)
"""Offers drawn at a publication: twice as many as reports until the next, within these."""


class Progress(NamedTuple):
    """Everything that a snapshot holds."""

    state: Any
    pulls: NDArray[np.float64]
    """Weight of the private reports of each arm, for the summary; empty where there are no arms."""
    total: NDArray[np.float64]
    """Sum of their estimates."""


class Fold:
    """A task's state and how it moves on. Use it within `jax.enable_x64(True)`."""

    def __init__(self, contract: Contract, snapshot: Snapshot | None = None, memos: Mapping[str, bytes] = {}) -> None:
        self.contract, task = contract, task_of(contract)
        self._publish_every = learning_of(contract).publish_every
        self._mechanisms = mechanisms_of(contract)
        noises = [noise_of(mechanism) for mechanism in self._mechanisms]
        self._weights = [weight_of(noises[0], noise) for noise in noises]
        self._spread = noises[0].proxy
        self._domain = self._mechanisms[0].domain
        self.learner: Any = learner_of(task, noises[0])
        self._arms = task.arms if algorithm_of(task.learner).actions == "arms" else 0
        first = Progress(self._first_state(), np.zeros(self._arms), np.zeros(self._arms))
        self._memo_like = jax.eval_shape(self.learner.ask, first.state, jax.random.key(0)).memo
        self._memos = dict(memos)
        self.learned = self.seq = self.published = 0
        if snapshot:
            self.learned, self.seq, self.published, state, _ = snapshot
            first = leaves.unpack(first, state)
        self.progress = jax.tree.map(jnp.asarray, first)

    # --- forward -----------------------------------------------------------------------------------------------------

    def advance(self, entries: Sequence[Entry]) -> Iterator[Publication]:
        """Fold these entries in, stopping wherever a publication is due."""
        entries = [entry for entry in entries if entry.seq > self.seq]
        while entries:
            until_due = self._publish_every - self.learned % self._publish_every
            reach = min(until_due, CHUNK)
            part, entries = entries[:reach], entries[reach:]
            was_done = self.done()
            self._fold([entry.report for entry in part])
            self.seq = part[-1].seq
            if not was_done and (self._due() or self.done()):
                yield self.publication()

    def _fold(self, reports: Sequence[Report]) -> None:
        count, places = len(reports), np.zeros((CHUNK, size(self._domain)))
        places[:count] = self._messages(reports)
        weights = np.ones(CHUNK)
        weights[:count] = [1.0 if report.gate == WARM else self._weights[report.gate] for report in reports]
        private = np.zeros(CHUNK)
        private[:count] = [report.gate != WARM for report in reports]
        memos = [self._memo(report) for report in reports]
        memos += memos[:1] * (CHUNK - count)
        stacked = jax.tree.map(lambda *parts: np.stack(parts), *memos)
        given = (stacked, places, weights, private, np.arange(CHUNK) < count)
        self.progress, heard = fold(self._domain, self._arms, self.learner, self.progress, given)
        self.learned += int(heard)

    def _messages(self, reports: Sequence[Report]) -> NDArray[np.float64]:
        """Estimates of what was said, one a row; reports through the same gate are decoded together."""
        messages = np.zeros((len(reports), size(self._domain)))
        for gate in {report.gate for report in reports}:
            rows = [i for i, report in enumerate(reports) if report.gate == gate]
            payloads = [reports[i].payload for i in rows]
            if gate == WARM:
                messages[rows] = np.frombuffer(b"".join(payloads), ">f8").reshape(len(rows), -1)
            else:
                messages[rows] = decode_messages(self._mechanisms[gate], payloads)
        return messages

    def _memo(self, report: Report) -> Any:
        if not isinstance(self.contract.offers, ByModel):
            return leaves.unpack(self._memo_like, report.context)
        if not jax.tree.leaves(self._memo_like):
            return self._memo_like
        return leaves.unpack(self._memo_like, self._memos[report.context.hex()])

    # --- publishing --------------------------------------------------------------------------------------------------

    def done(self) -> bool:
        return hasattr(self.learner, "done") and bool(is_done(self.learner, self.progress.state))

    def publication(self) -> Publication:
        """Refresh the state, and say what offers are made from until the next one."""
        if self.learned and hasattr(self.learner, "refresh"):
            self.progress = self.progress._replace(state=refresh(self.learner, self.progress.state))
        self.published = self.learned
        offers = self.contract.offers
        published, memo = self._model(offers.model) if isinstance(offers, ByModel) else (self._pool(), b"")
        version = version_of(published.model) if published.model else ""
        if memo:
            self._memos[version] = memo
        return Publication(self.learned, version, msgspec.msgpack.encode(published), memo, 0)

    def _due(self) -> bool:
        """The rule of the simulator: every so many reports, and not before `growth` times more than last."""
        growth = getattr(self.learner, "growth", 1.0)
        return self.learned % self._publish_every == 0 and self.learned >= self.published * growth

    def _first_state(self) -> Any:
        state = self.learner.init()
        if hasattr(self.learner, "refresh") and getattr(self.learner, "growth", 1.0) <= 1:
            state = refresh(self.learner, state)
        return state

    def _model(self, kind: str) -> tuple[Published, bytes]:
        offer = ask(self.learner, self.progress.state, jax.random.key(0))
        return Published(model=model_body(kind, offer.public)), leaves.pack(offer.memo)

    def _pool(self) -> Published:
        """Offers drawn in advance. A pool is fresh at every publication, so each offer follows the learner's law."""
        estimates = self._estimates()
        if self.done():
            recommendation = recommended(self.learner.recommend(self.progress.state))
            return Published(done=True, recommendation=recommendation, estimates=estimates)
        count = int(np.clip(2 * self._publish_every, *POOL))
        keys = jax.random.split(jax.random.key(secrets.randbits(63)), count)
        offers = ask_many(self.learner, self.progress.state, keys)
        actions, memos = np.asarray(offers.public).tolist(), leaves.pack_rows(offers.memo, count)
        pool = [PooledOffer(action, memo) for action, memo in zip(actions, memos, strict=True)]
        return Published(offers=pool, estimates=estimates, contexts=self._contexts(pool))

    def _contexts(self, pool: Sequence[PooledOffer]) -> list[bytes]:
        """For each arm its memo, where a learner remembers nothing else of an offer."""
        arms = [arm.to_bytes(8, "big") for arm in range(self._arms)]
        return arms if arms and all(offer.memo == arms[offer.action] for offer in pool) else []

    def _estimates(self) -> list[UnitEstimate]:
        """Of every arm: how many private reports, the mean reward that they say, and its standard error."""
        pulls, total = np.asarray(self.progress.pulls), np.asarray(self.progress.total)
        return [
            UnitEstimate(reports=n, mean=s / n if n else None, error=(self._spread / n) ** 0.5 if n else None)
            for n, s in zip(pulls.tolist(), total.tolist(), strict=True)
        ]

    # --- keeping -----------------------------------------------------------------------------------------------------

    def snapshot(self, *, base: bool = False) -> Snapshot:
        return Snapshot(self.learned, self.seq, self.published, leaves.pack(self.progress), base)

    def digest(self) -> str:
        """A hash of everything learned."""
        return leaves.digest(self.progress)


# --- the compiled parts: configuration and state are arguments, so tasks of one shape share them ---------------------


@functools.partial(jax.jit, static_argnums=(0, 1))
def fold(
    domain: Domain, arms: int, learner: Any, progress: Progress, given: tuple[Any, ...]
) -> tuple[Progress, jax.Array]:
    """Tell the valid reports in order, until the learner is done; how many were told."""

    def step(progress: Progress, place: tuple[Any, ...]) -> tuple[Progress, jax.Array]:
        memo, message, weight, private, valid = place
        estimate = domain.extract(message)
        heard = valid & ~learner.done(progress.state) if hasattr(learner, "done") else valid
        after = Progress(told(learner, progress.state, memo, estimate, weight), progress.pulls, progress.total)
        if arms:
            share = jnp.where(jnp.arange(arms) == jax.tree.leaves(memo)[0], weight * private, 0.0)
            after = after._replace(pulls=progress.pulls + share, total=progress.total + share * estimate)
        return jax.tree.map(lambda new, old: jnp.where(heard, new, old), after, progress), heard

    progress, heard = lax.scan(step, progress, given)
    return progress, jnp.sum(heard)


@jax.jit
def refresh(learner: Any, state: Any) -> Any:
    return learner.refresh(state)


@jax.jit
def is_done(learner: Any, state: Any) -> jax.Array:
    return learner.done(state)


@jax.jit
def ask(learner: Any, state: Any, key: jax.Array) -> Any:
    return learner.ask(state, key)


@jax.jit
def ask_many(learner: Any, state: Any, keys: jax.Array) -> Any:
    return jax.vmap(lambda key: learner.ask(state, key))(keys)
