"""State is a fold over the journal: however it is cut, whatever was forgotten, and with quieter voices in it."""

import datetime
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import msgspec
import numpy as np
import pytest

from catalogue import shape_of
from serving import ARMS, MODEL, contract, honest
from sottovoce.catalogue.resolve import mechanism_from, mechanism_of
from sottovoce.catalogue.task import algorithms, task
from sottovoce.learners import LEARNERS, learner_of
from sottovoce.learners.weighing import weight_of
from sottovoce.privacy.levels.mechanism import Levels
from sottovoce.privacy.reading import decode_messages, noise_of, report_size
from sottovoce.privacy.sphere.mechanism import Sphere
from sottovoce.protocol.contract import DAY, Contract, Status
from sottovoce.server.hub import oldest_kept
from sottovoce.server.learn.folding import CHUNK, Fold
from sottovoce.server.learn.process import Learning, replay
from sottovoce.server.published import Published
from sottovoce.server.store import Entry, Publication, Report
from sottovoce.server.store.sqlite import SqliteStore
from sottovoce.sim.run import publication


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def published(one: Publication) -> Published:
    return msgspec.msgpack.decode(one.body, type=Published)


def journal(contract: Contract, count: int, gates: int = 1, losses: tuple[float, ...] = (0.9, 0.5, 0.1)) -> list[Entry]:
    """Reports of people who were offered one arm after the other, through one gate after the other."""
    found = []
    for n in range(count):
        arm, gate = n % 3, n // 3 % gates
        payload = honest(contract, gate, losses[arm])
        found.append(Entry(n + 1, Report(1, n.to_bytes(16, "big"), 0, gate, arm.to_bytes(8, "big"), payload)))
    return found


# --- the same bits ---------------------------------------------------------------------------------------------------


def test_how_reports_are_grouped_does_not_change_a_bit():
    live = contract(publish_every=7)
    entries = journal(live, 200, gates=3)
    whole, cut, resumed = Fold(live), Fold(live), Fold(live)
    at_once = [(p.learned, published(p).estimates) for p in whole.advance(entries)]
    in_parts, start = [], 0
    for length in (1, 5, 7, 64, 3, 100, 20):
        in_parts += [(p.learned, published(p).estimates) for p in cut.advance(entries[start : start + length])]
        start += length
    assert start == len(entries)
    assert in_parts == at_once
    assert cut.digest() == whole.digest()
    for _ in resumed.advance(entries[:101]):
        pass
    rest = Fold(live, resumed.snapshot())
    assert rest.learned == 101
    for _ in rest.advance(entries):  # those that it knows are passed over
        pass
    assert (rest.digest(), rest.published) == (whole.digest(), whole.published)


def test_one_report_more_or_another_order_is_another_state():
    live = contract()
    entries = journal(live, 30)
    folds = [Fold(live) for _ in range(3)]
    swapped = [entries[1], entries[0]._replace(seq=3), *(e._replace(seq=e.seq + 1) for e in entries[2:])]
    for fold, own in zip(folds, (entries, entries[:-1], swapped), strict=True):
        for _ in fold.advance(own):
            pass
    assert folds[0].digest() != folds[1].digest()
    assert folds[0].learned == folds[2].learned == 30


@pytest.mark.parametrize(("learner", "publish_every"), [("kl-ucb", 7), ("linucb", 40)])
def test_publications_come_where_the_simulator_publishes(learner: str, publish_every: int):
    file = (ARMS if learner == "kl-ucb" else MODEL) | {"learner": learner, "publish_every": publish_every}
    live = contract(**file)
    fold, rounds = Fold(live), 5 * CHUNK + 3
    first = fold.publication()
    version = bytes.fromhex(first.version) if first.version else bytes(8)
    payload = honest(live)
    entries = [Entry(n + 1, Report(1, n.to_bytes(16, "big"), 0, 0, version, payload)) for n in range(rounds)]
    live_counts = [one.learned for one in fold.advance(entries)]
    expected = publication(rounds, publish_every, getattr(fold.learner, "growth", 1.0))
    assert live_counts == (np.flatnonzero(expected) + 1).tolist()


# --- quieter voices --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["kl-ucb", "tsallis-inf", "thompson"])
def test_quieter_reports_weigh_less_and_keep_the_means_right(learner: str):
    """False-alarm rate below 1e-6 an arm: five times the standard error that the summary itself states."""
    losses, live = (0.8, 0.5, 0.2), contract(learner=learner, publish_every=600, privacy={"epsilon": 4.0})
    fold = Fold(live)
    offered = {offer.action: offer.memo for offer in published(fold.publication()).offers}
    if len(offered) < 3:  # one that starts with the first arm and remembers nothing but the arm
        offered = {arm: arm.to_bytes(8, "big") for arm in range(3)}
    entries = [
        entry._replace(report=entry.report._replace(context=offered[entry.report.context[-1]]))
        for entry in journal(live, 600, gates=3, losses=losses)
    ]
    (last,) = fold.advance(entries)
    mechanisms = [mechanism_from(live.task, gate) for gate in live.gates]
    weights = [weight_of(noise_of(mechanisms[0]), noise_of(one)) for one in mechanisms]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == 1.0
    assert weights[-1] < 0.5
    for loss, estimate in zip(losses, published(last).estimates, strict=True):
        assert estimate["reports"] == pytest.approx(200 / 3 * sum(weights), rel=0.01)
        assert abs(estimate["outcome"] - loss) < 5 * estimate["error"]
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(fold.progress))


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_learner_with_whole_numbers_in_its_state_says_that_it_cannot_weigh(name: str):
    declared = task(name, rounds=100, epsilon=2.0, **shape_of(name))
    state = jax.eval_shape(learner_of(declared, noise_of(mechanism_of(declared))).init)
    whole = any(not jnp.issubdtype(leaf.dtype, jnp.inexact) for leaf in jax.tree.leaves(state))
    assert not (whole and algorithms()[name].weighs)


# --- forged reports --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["kl-ucb", "tsallis-inf", "gradient", "linucb"])
def test_a_forged_report_weighs_no_more_than_an_honest_one_through_the_loudest_gate(learner: str):
    """What a report can say, times what it weighs, is largest at the first gate: a quieter one is no loudspeaker."""
    live = contract(**(MODEL if learner in ("gradient", "linucb") else ARMS) | {"learner": learner})
    draw, reaches = np.random.default_rng(3), []
    full = noise_of(mechanism_from(live.task, live.gates[0]))
    for gate in live.gates:
        mechanism = mechanism_from(live.task, gate)
        assert isinstance(mechanism, Levels | Sphere)
        if isinstance(mechanism, Levels):
            reach, forged = mechanism.reach, [bytes([level]) for level in range(mechanism.levels)]
        else:
            reach = mechanism.reach
            forged = [draw.bytes(report_size(mechanism) - 2) + bytes([0, n]) for n in range(256)]
        said = np.linalg.norm(decode_messages(mechanism, forged), axis=1)
        assert np.max(said) <= reach * (1 + 1e-12)
        reaches.append(reach * weight_of(full, noise_of(mechanism)))
    assert max(reaches) <= reaches[0] * (1 + 1e-9)


# --- the end ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["lil-ucb", "sequential-halving"])
def test_a_task_that_knows_enough_recommends_and_hears_nothing_more(learner: str):
    live = contract(learner=learner, horizon=60, publish_every=1000, privacy={"epsilon": 8.0}, **EASY[learner])
    fold, seq = Fold(live), 0
    pool = published(fold.publication()).offers
    last = None
    while last is None:
        entries = []
        for n in range(CHUNK):
            offer = pool[n % len(pool)]
            loss = (0.0, 1.0, 1.0)[offer.action]
            seq += 1
            payload = honest(live, outcome=loss)
            entries.append(Entry(seq, Report(1, seq.to_bytes(16, "big"), 0, 0, offer.memo, payload)))
        last = next(iter(fold.advance(entries)), None)
        pool = published(fold.publication()).offers or pool
        assert seq < 3000
    assert published(last).done
    assert published(last).recommendation == 0
    assert published(last).offers == []
    before = fold.digest(), fold.learned
    late = Entry(seq + 1, Report(1, b"late", 0, 0, pool[0].memo, honest(live)))
    assert list(fold.advance([late])) == []
    assert (fold.digest(), fold.learned) == before


EASY: dict[str, dict[str, Any]] = {"lil-ucb": {"tuning": {"failure": 0.3}}, "sequential-halving": {}}


# --- forgetting ------------------------------------------------------------------------------------------------------


def test_reports_are_forgotten_after_a_base_and_nothing_learned_is_lost(tmp_path: Path):
    """Days 0 and 9; whatever is killed when, the learner goes on from a snapshot that contains what is forgotten."""
    store = SqliteStore(tmp_path)
    row = store.create(contract(), Status())
    old = [entry.report for entry in journal(row.contract, 90)]
    new = [entry.report._replace(id=b"new" + entry.report.id, day=9) for entry in journal(row.contract, 30)]
    store.append(old[:70])
    learning = Learning(store)
    learning.catch_up()
    store.append(old[70:])
    learning.catch_up()
    news = learning.base(row.number)
    assert (news.base, news.learned, news.seq) == (True, 90, 90)
    store.append(new)
    assert store.forget(row.number, 9, news.seq) == 90
    killed = Learning(store)  # the other one never gets to save anything more
    for one in (learning, killed):
        assert one.catch_up()[-1].learned == 120
    assert learning.catch_up() == []
    assert replay(store, row) == learning._news(row.number).state == killed._news(row.number).state
    assert store.count(row.number) == (120, 0)
    store.close()


def test_a_report_that_may_still_be_sent_again_is_not_forgotten(monkeypatch: pytest.MonkeyPatch):
    noon = datetime.datetime(2026, 6, 15, 12, tzinfo=datetime.UTC).timestamp()
    today = int(noon) // DAY
    monkeypatch.setattr("sottovoce.server.hub.time.time", lambda: noon)
    assert oldest_kept(contract(retention="10d")) == today - 10
    assert oldest_kept(contract(retention="1s", reward={"wait": "5d"})) == today - 5


def test_a_task_whose_learner_fails_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = SqliteStore(tmp_path)
    rows = [store.create(contract(id=name), Status()) for name in ("bad", "good")]
    begin = Learning._begin
    monkeypatch.setattr(Learning, "_begin", lambda self, row: begin(self, row) if row.contract.id == "good" else 1 / 0)
    entries = [entry.report._replace(task=row.number) for row in rows for entry in journal(row.contract, 12)]
    store.append(entries)
    learning = Learning(store)
    first = learning.catch_up()
    assert [(news.task, news.broken) for news in first[:2]] == [(rows[0].number, True), (rows[1].number, False)]
    assert [(news.task, news.learned) for news in first[2:]] == [(rows[1].number, 12)]
    assert not learning.knows(rows[0].number)
    assert learning.catch_up() == []
    store.close()
