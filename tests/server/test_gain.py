"""The gain over a baseline: which reports measure it, what they add up to, and what people are told."""

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import msgspec
import numpy as np
import pytest
from test_deadlines import NOW, modelled, permit_of, ticketed, verdict

from serving import HELD_ARMS, HELD_MODEL, TOKEN, Held, committing, contract, created, honest, model_report, new_nonces
from sottovoce.admin.remote import Remote
from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import TaskFile
from sottovoce.fleet.run import run_fleet
from sottovoce.privacy.drawing import privatise
from sottovoce.privacy.gates import measuring_of, mechanisms_of
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.protocol.holdout import purpose_of
from sottovoce.protocol.wire import ModelReport, TicketReport
from sottovoce.report.describe import facts, gain_words
from sottovoce.server.learn.folding import Fold as FoldWithSecret
from sottovoce.server.learn.folds import Folds
from sottovoce.server.learn.replaying import replay
from sottovoce.server.store import open_store
from sottovoce.server.store.base import MEASURES, Entry, Journalled, Published
from sottovoce.server.web.gain import gain_of
from sottovoce.server.web.task import LiveTask

Fold = functools.partial(FoldWithSecret, secret=b"of the server")


def measuring_report(task: LiveTask, held: Held, reward: float, gate: int = 0) -> dict[str, Any]:
    """What an honest device sends that measures."""
    mechanism, rewards = measuring_of(task.contract)[gate], task.contract.reward
    drawn = privatise(mechanism, mechanism.domain.embed(rewards.to_unit(reward)))
    payload = to_text(drawn.ljust(mechanisms_of(task.contract)[gate].report_size, b"\0"))
    return {**held._asdict(), "version": task.version, "gate": gate, "payload": payload}


def with_purpose(task: LiveTask, purpose: str) -> Held:
    """A permit whose report is for this."""
    while True:
        held = permit_of(task)
        if purpose_of(held.coin, 0.25) == purpose:
            return held


# --- what is taken ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("purpose", ["baseline", "choice"])
def test_a_report_is_journalled_as_what_its_coin_says(purpose: str):
    task = modelled(**HELD_MODEL)
    report = measuring_report(task, with_purpose(task, purpose), 1.0, gate=1)
    (kept,) = task.judge([ModelReport(**report)], NOW)
    assert isinstance(kept, Journalled)
    assert kept.context == f"the {purpose}".encode()
    assert (kept.gate, kept.payload) == (1, from_text(report["payload"])[:1])


def test_a_report_that_measures_says_a_level_and_nothing_else():
    task = modelled(**HELD_MODEL | {"privacy": {"epsilon": 8.0}})  # a payload of two bytes
    held = with_purpose(task, "choice")
    good = measuring_report(task, held, 1.0)
    levels = measuring_of(task.contract)[0].levels
    for payload in (b"\0\1", bytes([levels, 0]), b"\0", b"\0\0\0", b""):
        assert verdict(task, good | {"payload": to_text(payload)}) == "bad-payload"
    assert verdict(task, good) == "accepted"


def test_a_report_to_learn_from_is_journalled_as_before():
    task = modelled(**HELD_MODEL)
    report = model_report(task.contract, with_purpose(task, "learning"), task.version)
    (kept,) = task.judge([ModelReport(**report)], NOW)
    assert isinstance(kept, Journalled)
    assert kept.context == bytes.fromhex(task.version)


def test_tickets_of_the_holdout_play_the_baseline_by_chance_and_look_like_the_others():
    """2,000 tickets, of which a fifth are held out; false-alarm rate 1e-6: 4.9 standard deviations."""
    task = ticketed(**HELD_ARMS)
    nonces = new_nonces(2000)
    offers = task.offers(**committing(nonces), now=NOW).offers
    payload = to_text(honest(task.contract))
    reports = [
        TicketReport(ticket=one.ticket, nonce=nonce, gate=0, payload=payload)
        for one, nonce in zip(offers, nonces, strict=True)
    ]
    kept = [one for one in task.judge(reports, NOW) if isinstance(one, Journalled)]
    held_out = [one.context == b"the baseline" for one in kept]
    assert len(kept) == 2000
    assert abs(sum(held_out) - 400) < 4.9 * (2000 * 0.2 * 0.8) ** 0.5
    assert {one.action for one, held in zip(offers, held_out, strict=True) if held} == {1}
    assert len({len(one.ticket) for one in offers}) == 1


# --- what it adds up to ----------------------------------------------------------------------------------------------


def journal(contract: Contract, count: int, learned_from: bytes) -> list[Entry]:
    """A third of them measure a baseline worth 0.2, a third a choice worth 0.7; through one gate after another."""
    found, contexts = [], (b"the baseline", b"the choice", learned_from)
    measuring = measuring_of(contract) or mechanisms_of(contract)
    for n in range(count):
        context, gate = contexts[n % 3], n // 3 % 3
        reward = contract.reward.to_unit((0.2, 0.7, 0.5)[n % 3])
        said = honest(contract, gate) if context == learned_from else None
        payload = said or privatise(measuring[gate], measuring[gate].domain.embed(reward))
        found.append(Entry(n + 1, Journalled(1, n.to_bytes(16, "big"), 0, gate, context, payload)))
    return found


@pytest.fixture
def double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.mark.usefixtures("double_precision")
@pytest.mark.parametrize("file", [HELD_ARMS, HELD_MODEL], ids=lambda file: file["id"])
def test_measuring_reports_are_added_up_and_teach_nothing_however_the_journal_is_cut(file: dict[str, Any]):
    live = contract(**file | {"publish_every": 1000})
    fold, cut, without = Fold(live), Fold(live), Fold(live)
    first = fold.publish()
    context = bytes.fromhex(first.version) if first.version else bytes(16)
    for other in (cut, without):
        other.publish()
    entries = journal(live, 900, context)
    parts = [entries[:1], entries[1:70], entries[70:71], entries[71:500], entries[500:]]
    for part in parts:
        assert list(cut.advance(part)) == []
        cut = Fold(live, snapshot=cut.snapshot(), memos={first.version: first.memo})
    assert list(fold.advance(entries)) == []
    assert list(without.advance([one for one in entries if one.report.context not in MEASURES])) == []
    assert (cut.digest(), fold.learned) == (fold.digest(), 900)
    same = jax.tree.map(lambda one, other: bool(np.all(one == other)), fold.progress[:3], without.progress[:3])
    assert all(jax.tree.leaves(same))
    assert without.digest() != fold.digest()
    published = msgspec.msgpack.decode(fold.publish().body, type=Published)
    gain = gain_of(live, published)
    assert gain is not None
    assert gain.aside == 600
    assert gain.low is not None
    assert gain.high is not None
    assert gain.difference is not None
    assert gain.low < gain.difference < gain.high
    assert gain.baseline_reports < 300  # the quieter ones count in part
    error = (measuring_of(live) or mechanisms_of(live))[0].noise().proxy ** 0.5 / gain.baseline_reports**0.5
    assert gain.baseline == pytest.approx(0.2, abs=5 * error)


@pytest.mark.usefixtures("double_precision")
def test_a_measuring_entry_that_cannot_be_read_is_left_out_and_counted():
    live = contract(**HELD_MODEL)
    fold = Fold(live)
    fold.publish()
    bad = [Journalled(1, b"id", 0, gate, b"the choice", payload) for gate, payload in ((0, b"\x07"), (9, b"\0"))]
    assert list(fold.advance([Entry(n, one) for n, one in enumerate(bad, 1)])) == []
    assert [one.seq for one in fold.unread] == [1, 2]
    assert fold.learned == 0


@pytest.mark.usefixtures("double_precision")
def test_replay_of_the_journal_gives_the_sums_again(tmp_path: Path):
    store = open_store(tmp_path)
    task = created(store, **HELD_ARMS)
    folds = Folds(store)
    folds.catch_up()
    store.append([entry.report._replace(task=task.number) for entry in journal(task.contract, 200, bytes(16))])
    while folds.catch_up():
        pass
    folds.finish()
    assert replay(store, task) == Fold(task.contract, snapshot=store.snapshot(task.number)).digest()
    store.close()


# --- what can be declared --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (HELD_ARMS | {"holdout": {"share": 0.3, "baseline": "b"}}, "0.001 to 0.25, got 0.3"),
        (HELD_ARMS | {"holdout": {"share": 0.1, "baseline": "d"}}, "one of: a, b, c; got 'd'"),
        (HELD_ARMS | {"holdout": {"share": 0.1}}, "one of: a, b, c; got ''"),
        (HELD_ARMS | {"learner": "top-two"}, "searches and then stops"),
        (HELD_MODEL | {"holdout": {"share": 0.1, "baseline": "a"}}, "the app says what its baseline is"),
        (HELD_MODEL | {"learner": "linucb", "preset": "paper"}, "measures without delta"),
        (
            {**HELD_ARMS, "learner": "fkm", "actions": [], "dimension": 2, "holdout": {"share": 0.1}},
            "fkm chooses points",
        ),
    ],
)
def test_a_holdout_that_cannot_work_is_refused(changes: dict[str, Any], said: str):
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        contract_of(msgspec.convert(changes, TaskFile))


# --- with a real server and real devices -----------------------------------------------------------------------------


@pytest.mark.parametrize("file", [HELD_ARMS, HELD_MODEL], ids=lambda file: file["id"])
def test_people_with_devices_measure_the_gain_and_everybody_is_told_the_same(live, file: dict[str, Any]):
    """500 people. The range misses the gain of one stream in twenty at most; here it is twice as wide, for 1e-6."""
    address, task = f"http://127.0.0.1:{live.server.port}", f"{file['id']}-of-people"
    known = live.server.create(file | {"id": task})
    result = run_fleet(address, task, 500, seed=3, lockstep=False, connections=2)
    assert result.acknowledged == 500
    live.server.caught_up(task)
    remote = Remote(address, TOKEN)
    gain = remote.summary(task).gain
    assert gain is not None
    assert gain.low is not None
    assert gain.high is not None
    assert gain.difference is not None
    assert gain.choice is not None
    assert gain.baseline is not None
    assert gain.difference == pytest.approx(gain.choice - gain.baseline)
    assert abs(gain.difference) < gain.high - gain.low  # in a rush nobody has learned anything: about 0
    held_out = 250 if file is HELD_MODEL else 100
    assert gain.aside == pytest.approx(held_out, abs=4.9 * 11.2)
    page = live.server.call("GET", "/metrics").body.decode()
    (told,) = re.findall(rf'sottovoce_gain{{of="difference",task="{task}"}} (\S+)', page)
    assert float(told) == pytest.approx(gain.difference)
    said = dict(facts(known, remote.status(task), remote.summary(task)))
    assert "holdout" in said
    assert f"{500 - gain.aside} learned from" in said["progress"]
    assert f"gain {gain.difference:.3f}" in gain_words(gain)
