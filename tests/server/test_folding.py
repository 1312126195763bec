"""State is a fold over the journal: however it is cut, whatever was forgotten, and with quieter voices in it."""

import datetime
import functools
from collections import Counter
from pathlib import Path
from typing import Any

import jax
import msgspec
import numpy as np
import pytest

from catalogue import shape_of
from serving import ARMS, MODEL, contract, created, honest
from sottovoce.catalogue.algorithms import algorithms
from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.catalogue.task import task
from sottovoce.engine.schedule import Schedule
from sottovoce.engine.step import can_weigh, weight_of
from sottovoce.learners import LEARNERS, learner_of
from sottovoce.privacy.gates import mechanisms_of
from sottovoce.privacy.levels.mechanism import Levels
from sottovoce.privacy.mechanisms import noise_of
from sottovoce.privacy.sphere.mechanism import Sphere
from sottovoce.protocol.contract import DAY, Contract
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.learn import compiled
from sottovoce.server.learn.folding import CHUNK
from sottovoce.server.learn.folding import Fold as FoldWithSecret
from sottovoce.server.learn.folds import Folds
from sottovoce.server.learn.publishing import Said, publication_key, publication_of
from sottovoce.server.learn.replaying import replay
from sottovoce.server.store import open_store
from sottovoce.server.store.base import WARM, Entry, Journalled, Publication, Published
from sottovoce.server.web.retention import oldest_kept


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


Fold = functools.partial(FoldWithSecret, secret=b"of the server")


def published(one: Publication) -> Published:
    return msgspec.msgpack.decode(one.body, type=Published)


def journal(
    contract: Contract, count: int, gates: int = 1, rewards: tuple[float, ...] = (0.9, 0.5, 0.1)
) -> list[Entry]:
    """Reports of people who were offered one arm after the other, through one gate after the other."""
    found = []
    for n in range(count):
        arm, gate = n % 3, n // 3 % gates
        payload = honest(contract, gate, rewards[arm])
        found.append(Entry(n + 1, Journalled(1, n.to_bytes(16, "big"), 0, gate, context_of(arm), payload)))
    return found


def context_of(arm: int) -> bytes:
    """What a ticket carries for a learner that remembers the arm only: its memo, and the arm."""
    return 2 * arm.to_bytes(8, "big")


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
    rest = Fold(live, snapshot=resumed.snapshot())
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
    first = fold.publish()
    version = bytes.fromhex(first.version) if first.version else context_of(0)
    payload = honest(live)
    entries = [Entry(n + 1, Journalled(1, n.to_bytes(16, "big"), 0, 0, version, payload)) for n in range(rounds)]
    live_counts = [one.learned for one in fold.advance(entries)]
    assert live_counts == (np.flatnonzero(Schedule(publish_every, fold.learner.growth).marks(rounds)) + 1).tolist()


# --- quieter voices --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["kl-ucb", "tsallis-inf", "thompson"])
def test_quieter_reports_weigh_less_and_keep_the_means_right(learner: str):
    """False-alarm rate below 1e-6 an arm: five times the standard error that the summary itself states."""
    rewards, live = (0.8, 0.5, 0.2), contract(learner=learner, publish_every=600, privacy={"epsilon": 4.0})
    fold = Fold(live)
    offered = {offer.action: offer.memo for offer in published(fold.publish()).offers}
    if len(offered) < 3:  # one that starts with the first arm and remembers nothing but the arm
        offered = {arm: context_of(arm) for arm in range(3)}
    entries = [
        entry._replace(report=entry.report._replace(context=offered[entry.report.context[-1]]))
        for entry in journal(live, 600, gates=3, rewards=rewards)
    ]
    (last,) = fold.advance(entries)
    mechanisms = mechanisms_of(live)
    weights = [weight_of(noise_of(mechanisms[0]), noise_of(one)) for one in mechanisms]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == 1.0
    assert weights[-1] < 0.5
    for reward, estimate in zip(rewards, published(last).estimates, strict=True):
        assert estimate.reports == pytest.approx(200 / 3 * sum(weights), rel=0.01)
        assert abs(estimate.mean - reward) < 5 * estimate.error
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(fold.progress))


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_learner_with_whole_numbers_in_its_state_says_that_it_cannot_weigh(name: str):
    declared = task(name, rounds=100, epsilon=2.0, **shape_of(name))
    assert can_weigh(learner_of(declared, noise_of(mechanism_of(declared)))) or not algorithms()[name].weighs


# --- forged reports --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["kl-ucb", "tsallis-inf", "gradient", "linucb"])
def test_a_forged_report_weighs_no_more_than_an_honest_one_through_the_loudest_gate(learner: str):
    """What a report can say, times what it weighs, is largest at the first gate: a quieter one is no loudspeaker."""
    live = contract(**(MODEL if learner in ("gradient", "linucb") else ARMS) | {"learner": learner})
    draw, reaches = np.random.default_rng(3), []
    full = noise_of(mechanisms_of(live)[0])
    for mechanism in mechanisms_of(live):
        assert isinstance(mechanism, Levels | Sphere)
        if isinstance(mechanism, Levels):
            reach, forged = mechanism.reach, [bytes([level]) for level in range(mechanism.levels)]
        else:
            reach = mechanism.reach
            forged = [draw.bytes(mechanism.coin_size) + bytes([n % mechanism.candidates]) for n in range(256)]
        said = np.linalg.norm(mechanism.decode(forged), axis=1)
        assert np.max(said) <= reach * (1 + 1e-12)
        reaches.append(reach * weight_of(full, noise_of(mechanism)))
    assert max(reaches) <= reaches[0] * (1 + 1e-9)


# --- the end ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["top-two", "lil-ucb", "sequential-halving"])
def test_a_task_that_knows_enough_recommends_and_hears_nothing_more(learner: str):
    live = contract(learner=learner, horizon=60, publish_every=1000, privacy={"epsilon": 8.0}, **EASY[learner])
    fold, seq = Fold(live), 0
    pool = published(fold.publish()).offers
    last = None
    while last is None:
        entries = []
        for n in range(CHUNK):
            offer = pool[n % len(pool)]
            reward = (1.0, 0.0, 0.0)[offer.action]
            seq += 1
            payload = honest(live, outcome=reward)
            entries.append(Entry(seq, Journalled(1, seq.to_bytes(16, "big"), 0, 0, offer.memo, payload)))
        last = next(iter(fold.advance(entries)), None)
        pool = published(fold.publish()).offers or pool
        assert seq < 3000
    assert published(last).done
    assert published(last).recommendation == 0
    assert published(last).offers == []
    before = fold.digest(), fold.learned
    late = Entry(seq + 1, Journalled(1, b"late", 0, 0, pool[0].memo, honest(live)))
    assert list(fold.advance([late])) == []
    assert (fold.digest(), fold.learned) == before


EASY: dict[str, dict[str, Any]] = {
    "top-two": {"tuning": {"failure": 0.3}},
    "lil-ucb": {"tuning": {"failure": 0.3}},
    "sequential-halving": {},
}


# --- forgetting ------------------------------------------------------------------------------------------------------


def test_reports_are_forgotten_after_a_base_and_nothing_learned_is_lost(tmp_path: Path):
    """Days 0 and 9; whatever is killed when, the learner goes on from a snapshot that contains what is forgotten."""
    store = open_store(tmp_path)
    row = created(store)
    old = [entry.report for entry in journal(row.contract, 90)]
    new = [entry.report._replace(id=b"new" + entry.report.id, day=9) for entry in journal(row.contract, 30)]
    store.append(old[:70])
    learning = Folds(store)
    learning.catch_up()
    store.append(old[70:])
    learning.catch_up()
    news = learning.bases([row.number])[0]
    assert (news.base, news.learned, news.seq) == (True, 90, 90)
    store.append(new)
    assert store.forget(row.number, 9, 0, news.seq, 1000) == (news.seq, 90)
    killed = Folds(store)  # the other one never gets to save anything more
    for one in (learning, killed):
        assert one.catch_up()[-1].learned == 120
    assert learning.catch_up() == []
    assert replay(store, row) == learning._news(row.number).state == killed._news(row.number).state
    assert store.count(row.number) == (120, 0)
    store.close()


def test_what_a_learner_with_other_numbers_kept_is_learned_again_from_the_journal(tmp_path: Path):
    """As after an upgrade. Where the reports are forgotten that it learned from, the task is set aside."""
    store = open_store(tmp_path)
    row = created(store)
    reports = [entry.report for entry in journal(row.contract, 90)]
    store.append(reports[:60])
    first = Folds(store)
    first.catch_up()
    first.finish()
    kept = store.snapshot(row.number)
    assert kept
    store.save(row.number, kept._replace(state=kept.state + bytes(8)))
    store.append(reports[60:])
    again = Folds(store)
    assert again.catch_up()[-1].learned == 90
    assert replay(store, row) == again._news(row.number).state
    again.bases([row.number])
    base = store.snapshot(row.number)
    assert base
    store.save(row.number, base._replace(state=base.state[8:]))
    store.append([report._replace(id=b"new" + report.id) for report in reports])
    assert Folds(store).catch_up()[-1].broken
    with pytest.raises(ConfigurationError, match=r"another version of the learner .* start that version"):
        replay(store, row)
    store.close()


def test_a_task_that_nobody_reports_to_is_left_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """And dropping compiled code, as a learner of many tasks must, changes nothing that is learned."""
    store = open_store(tmp_path)
    quiet, busy = created(store, id="quiet"), created(store, id="busy")
    reports = [entry.report for entry in journal(quiet.contract, 20)]
    first = Folds(store)
    store.append([report._replace(task=row.number) for row in (quiet, busy) for report in reports])
    first.catch_up()
    before = first.bases([quiet.number, busy.number])
    again = Folds(store)
    assert again.catch_up() == [msgspec.structs.replace(news, base=False) for news in before]
    assert not again._folds
    store.append([report._replace(task=busy.number, id=b"new" + report.id) for report in reports])
    monkeypatch.setattr(compiled, "LARGEST", 0)
    compiled.Room().make()
    after = again.catch_up()
    assert [(news.task, news.learned) for news in after] == [(busy.number, 40)]
    assert list(again._folds) == [busy.number]
    assert replay(store, busy) == after[0].state
    store.close()


def test_a_report_that_may_still_be_sent_again_is_not_forgotten():
    noon = datetime.datetime(2026, 6, 15, 12, tzinfo=datetime.UTC).timestamp()
    today = int(noon) // DAY
    assert oldest_kept(contract(retention="10d"), noon) == today - 10
    assert oldest_kept(contract(retention="1s", reward={"wait": "5d"}), noon) == today - 5


def test_a_task_whose_learner_fails_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = open_store(tmp_path)
    rows = [created(store, id=name) for name in ("bad", "good")]
    begin = Folds._begin
    monkeypatch.setattr(Folds, "_begin", lambda self, row: begin(self, row) if row.contract.id == "good" else 1 / 0)
    entries = [entry.report._replace(task=row.number) for row in rows for entry in journal(row.contract, 12)]
    store.append(entries)
    learning = Folds(store)
    first = learning.catch_up()
    assert [(news.task, news.broken) for news in first[:2]] == [(rows[0].number, True), (rows[1].number, False)]
    assert [(news.task, news.learned) for news in first[2:]] == [(rows[1].number, 12)]
    assert not learning.bases([rows[0].number])
    assert learning.catch_up() == []
    store.close()


# --- what is published -----------------------------------------------------------------------------------------------


def test_what_is_published_follows_from_the_secret_the_task_and_the_count():
    live, other = contract(learner="tsallis-inf", publish_every=5), contract(id="other", learner="tsallis-inf")
    fold, again = Fold(live), Fold(live)
    first = fold.publish()
    memos = [offer.memo for offer in published(first).offers]
    entries = [entry._replace(report=entry.report._replace(context=memos[0])) for entry in journal(live, 10)]
    bodies = [first.body, *(one.body for one in fold.advance(entries))]
    assert len(set(bodies)) == 3
    assert [again.publish().body, *(one.body for one in again.advance(entries))] == bodies
    elsewhere = FoldWithSecret(live, b"of another server").publish()
    assert len({first.body, elsewhere.body, Fold(other).publish().body}) == 3


def test_a_model_of_a_learner_that_samples_is_drawn_anew():
    keys = [publication_key(b"secret", "model", count) for count in range(3)]
    drawn = {float(jax.random.uniform(key)) for key in keys}
    assert len(drawn) == 3
    assert float(jax.random.uniform(publication_key(b"secret", "model", 2))) in drawn


def test_consented_data_is_learned_from_and_not_counted_among_private_reports():
    live = contract(publish_every=6)
    fold = Fold(live)
    contexts = published(fold.publish()).contexts
    assert contexts == [context_of(arm) for arm in range(3)]
    clear = np.array([-1.0]).astype(">f8").tobytes()
    warm = [Entry(n + 1, Journalled(1, n.to_bytes(16, "big"), 0, WARM, contexts[n % 3], clear)) for n in range(6)]
    (after,) = fold.advance(warm)
    assert np.asarray(fold.progress.state.pulls).tolist() == [2.0, 2.0, 2.0]
    assert [estimate.reports for estimate in published(after).estimates] == [0.0, 0.0, 0.0]
    private = [entry._replace(seq=entry.seq + 6) for entry in journal(live, 6)]
    (after,) = fold.advance(private)
    assert [estimate.reports for estimate in published(after).estimates] == [2.0, 2.0, 2.0]


def test_a_change_of_the_world_is_published_where_the_task_expects_one():
    """The first rewards, then others: found once by a learner of a sudden world, never by one that expects none."""
    found = {}
    for drift in ("none", "sudden"):
        live = contract(learner="thompson", drift=drift, publish_every=500, horizon=4000)
        after = [entry._replace(seq=entry.seq + 1500) for entry in journal(live, 1500, rewards=(0.1, 0.5, 0.9))]
        publications = list(Fold(live).advance(journal(live, 1500) + after))
        found[drift] = [published(one).changes for one in publications]
    assert found == {"none": [0] * 6, "sudden": [0, 0, 0, 1, 1, 1]}


@pytest.mark.parametrize("learner", ["exp3", "tsallis-inf"])
def test_a_learner_that_weighs_by_the_chance_of_an_offer_has_no_context_without_one(learner: str):
    assert published(Fold(contract(learner=learner)).publish()).contexts == []


def test_a_learner_that_samples_offers_anew_at_every_publication():
    """From the same state: the key of a publication follows from the count of reports, so nothing is frozen."""
    fold = Fold(contract(learner="tsallis-inf"))

    def pool(count: int) -> list[int]:
        made = publication_of(
            fold.contract, b"secret", fold.learner, fold.progress.state, count, False, Said([], [], 0)
        )
        return [offer.action for offer in published(made).offers]

    assert pool(0) == pool(0) != pool(600)


def test_offers_of_one_publication_are_spread_by_a_learner_that_plays_the_largest_index():
    fold = Fold(contract(learner="kl-moss"))
    dealt = Counter(offer.action for offer in published(fold.publish()).offers)
    assert len(dealt) == 3
    assert max(dealt.values()) - min(dealt.values()) <= 1
