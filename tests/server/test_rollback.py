"""Rolling back: afterwards everything is as if what was rolled back had never come, however the server ends."""

import contextlib
import io
import itertools
import random
import re
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import jax
import pytest
from test_security import problem

from serving import ARMS, MODEL, TOKEN, Server, created, honest, ticket_report, until
from sottovoce.cli import main
from sottovoce.server.coordination.messages import News, Wish
from sottovoce.server.learn.folding import Fold
from sottovoce.server.learn.folds import Folds
from sottovoce.server.learn.replaying import replay
from sottovoce.server.learn.series import MOST, superfluous
from sottovoce.server.store import open_store
from sottovoce.server.store.base import Entry, Journalled, Kept, Store, StoreFault, TaskRow
from sottovoce.server.store.sqlite import SqliteStore
from test_cli import typed

KINDS = {"tickets": ARMS, "model": MODEL, "refreshed": MODEL | {"learner": "linucb"}}
"""The last one changes its state when it publishes."""


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with contextlib.closing(open_store(tmp_path)) as store:
        yield store


def some(store: Store, row: TaskRow, numbers: range) -> None:
    """Keep reports: each answers what is served now."""
    version = store.publications(row.number)[-1].version
    contexts = [bytes.fromhex(version) or 2 * (n % 3).to_bytes(8, "big") for n in numbers]
    store.append([
        Journalled(row.number, n.to_bytes(16, "big"), 0, 0, context, honest(row.contract))
        for n, context in zip(numbers, contexts, strict=True)
    ])  # fmt: skip


def answered(learning: Folds, row: TaskRow, learned: int) -> News:
    (news,) = learning.grant([Wish(row.number, learned)])
    assert news.answers
    return news


def without(store: Store, row: TaskRow, *kept: list[Entry]) -> str:
    """The state after these entries alone, with a publication where a gap was."""
    memos = {one.version: one.memo for one in store.publications(row.number)}
    fold = Fold(row.contract, store.secret("publication"), None, memos)
    for place, entries in enumerate(kept):
        if place:
            fold.publish()
        list(fold.advance(entries))
    return fold.digest()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_rolled_back_is_as_if_it_had_never_come(store: Store, kind: str):
    row, learning = created(store, **KINDS[kind]), Folds(store)
    learning.catch_up()
    for numbers in (range(30), range(30, 80)):
        some(store, row, numbers)
        assert learning.catch_up()[-1].learned == numbers.stop
    news = answered(learning, row, 45)
    assert (news.learned, news.published, news.left_out) == (45, 45, 35)
    assert replay(store, row) == news.state
    newest = store.publications(row.number)[-1]
    assert (newest.learned, newest.superseded) == (45, 0)
    killed = Folds(store)
    some(store, row, range(80, 100))  # which answer what is served now
    for one in (learning, killed):
        news = one.catch_up()[-1]
        assert (news.learned, news.left_out, news.unread) == (65, 35, 0)
    entries = store.entries(0, 1000)
    alone = without(store, row, entries[:45], entries[80:])
    assert learning._news(row.number).state == killed._news(row.number).state == replay(store, row) == alone
    store.tidy()


def test_a_rollback_may_cover_an_earlier_one_or_follow_it(store: Store):
    row, learning = created(store), Folds(store)
    some_more = iter([range(40), range(40, 60), range(60, 90), range(90, 95)])

    def more() -> None:
        some(store, row, next(some_more))
        learning.catch_up()

    learning.catch_up()
    more()
    assert answered(learning, row, 30).left_out == 10
    some(store, row, next(some_more))  # and nothing is read before the next wish
    assert answered(learning, row, 45).left_out == 15  # of the second twenty, five
    more()
    entries = store.entries(0, 1000)
    parts = entries[:30], entries[40:55], entries[60:90]
    assert learning._news(row.number).state == replay(store, row) == without(store, row, *parts)
    news = answered(learning, row, 20)
    assert (news.learned, news.left_out) == (20, 70)
    more()
    assert learning._news(row.number).learned == 25
    assert (
        learning._news(row.number).state
        == replay(store, row)
        == without(store, row, entries[:20], store.entries(90, 9))
    )


def test_nothing_is_rolled_back_beyond_the_base_or_to_the_future(store: Store):
    row, learning = created(store), Folds(store)
    learning.catch_up()
    some(store, row, range(20))
    learning.catch_up()
    learning.grant([Wish(row.number)])
    some(store, row, range(20, 40))
    before = learning.catch_up()[-1]
    for learned in (0, 19, 40, 41, 10**9):
        news = answered(learning, row, learned)
        assert (news.state, news.left_out) == (before.state, 0)
    assert answered(learning, row, 20).left_out == 20
    assert replay(store, row) == learning._news(row.number).state
    learning.grant([Wish(row.number)])  # a base after it
    some(store, row, range(40, 45))
    assert learning.catch_up()[-1].learned == 25
    assert replay(store, row) == learning._news(row.number).state


def test_a_fault_in_the_middle_of_a_rollback_leaves_everything_as_it_was(store: Store, monkeypatch: pytest.MonkeyPatch):
    row, learning = created(store), Folds(store)
    learning.catch_up()
    some(store, row, range(30))
    before = learning.catch_up()[-1]

    def full(*arguments: Any) -> None:
        raise StoreFault("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "_publish", full)  # after the gap and the snapshot were written
        with pytest.raises(StoreFault):
            learning.grant([Wish(row.number, 10)])
    again = Folds(store)  # as the learner starts again after a fault
    assert again.catch_up()[-1] == before
    assert replay(store, row) == before.state
    assert answered(again, row, 10).left_out == 20


def kept_counts(store: Store, row: TaskRow) -> list[int]:
    return [one.learned for one in store.snapshots(row.number)]


def grown(store: Store, row: TaskRow, learning: Folds, steps: range) -> None:
    """A snapshot after each of these counts."""
    for start in steps:
        some(store, row, range(start, start + steps.step))
        learning.catch_up()
        learning.finish()


def test_any_count_has_a_snapshot_near_and_most_snapshots_are_new():
    kept = [Kept(0, 0, False, 0)]
    for learned in range(200, 1_000_001, 200):
        kept.append(Kept(learned, learned, False, 0))
        gone = superfluous(kept)
        kept = [one for one in kept if one.seq not in gone]
        widths = [after.learned - before.learned for before, after in itertools.pairwise(kept)]
        assert max(widths) <= max(learned / 6, 200)
    assert (len(kept), kept[0].learned) == (MOST, 0)
    assert sum(widths[-8:]) < sum(widths[:8]) / 10


def test_the_learner_keeps_that_many(store: Store):
    row, learning = created(store), Folds(store)
    learning.catch_up()
    grown(store, row, learning, range(0, 10 * (MOST + 3), 10))
    counts = kept_counts(store, row)
    assert (len(counts), counts[0], counts[-1]) == (MOST, 0, 10 * (MOST + 3))


@pytest.mark.parametrize("kind", KINDS)
def test_a_rollback_reads_only_what_lies_after_a_snapshot_and_gives_the_same_bits(
    store: Store, kind: str, monkeypatch: pytest.MonkeyPatch
):
    row, learning = created(store, **KINDS[kind]), Folds(store)
    learning.catch_up()
    grown(store, row, learning, range(0, 120, 30))
    assert kept_counts(store, row) == [0, 30, 60, 90, 120]
    read: list[int] = []
    entries_of = SqliteStore.entries_of

    def reading(store: SqliteStore, task: int, after: int) -> Iterator[Entry]:
        for entry in entries_of(store, task, after):
            read.append(entry.seq)
            yield entry

    entries = store.entries(0, 1000)
    monkeypatch.setattr(SqliteStore, "entries_of", reading)
    for learned, again in ((100, range(91, 101)), (90, range(0)), (42, range(31, 43))):
        read.clear()
        news = answered(learning, row, learned)
        assert read == [*again]
        assert news.state == replay(store, row)
        assert news.learned == kept_counts(store, row)[-1] == learned
    assert kept_counts(store, row) == [0, 30, 42]  # what lay in the gap is gone
    some(store, row, range(120, 140))
    alone = without(store, row, entries[:42], store.entries(120, 99))
    assert learning.catch_up()[-1].state == replay(store, row) == alone


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_happens_in_whatever_order_replay_gives_the_live_state(store: Store, kind: str):
    row, learning, chance, next_one = created(store, **KINDS[kind]), Folds(store), random.Random(5), 0
    learning.catch_up()
    learned = first = 0
    for _ in range(60):
        match chance.choice(["more", "more", "back", "back", "stop", "base"]):
            case "more":
                count = chance.randrange(1, 60)
                some(store, row, range(next_one, next_one + count))
                next_one, learned = next_one + count, learned + count
                learning.catch_up()
            case "back" if learned > first:
                kept = [one.learned for one in store.snapshots(row.number) if one.learned < learned]
                learned = chance.choice([chance.randrange(first, learned), *kept])
                assert answered(learning, row, learned).learned == learned
            case "stop":
                learning.finish()
            case "base" if chance.random() < 0.3:
                learning.grant([Wish(row.number)])
                store.forget(row.number, day=1, after=0, seq=store.last(row.number), most=10**6)
                first = learned
        if chance.random() < 0.5:
            learning = Folds(store)  # as after a kill: from what was kept
            while learning.catch_up() or learning.behind:
                pass
        assert learning._news(row.number).learned == learned
        assert learning._news(row.number).state == replay(store, row)


def test_snapshots_before_a_base_are_gone_and_those_after_it_go_back_without_what_was_forgotten(store: Store):
    row, learning = created(store), Folds(store)
    learning.catch_up()
    grown(store, row, learning, range(0, 60, 20))
    learning.grant([Wish(row.number)])
    assert [(one.learned, one.base) for one in store.snapshots(row.number)] == [(60, True)]
    grown(store, row, learning, range(60, 120, 20))
    store.forget(row.number, day=1, after=0, seq=60, most=1000)
    assert answered(learning, row, 59).left_out == 0
    assert answered(learning, row, 85).learned == 85
    assert kept_counts(store, row) == [60, 80, 85]
    assert answered(learning, row, 60).state == replay(store, row)


def test_a_server_goes_back_serves_what_it_served_then_and_stays_there_after_a_kill(tmp_path: Path):
    server = Server(tmp_path / "data").start()
    try:
        contract, path = server.create(MODEL), "/v1/tasks/model/rollback"
        versions = [server.version("model")]
        for _ in range(2):
            server.report("model", *server.model_reports(contract, 25))
            server.caught_up("model")
            until(lambda: server.version("model") != versions[-1])
            versions.append(server.version("model"))
        problem(server.call("POST", path, {"learned": 25}), 401, "unauthorized")
        for wrong in (50, 51, -1):
            problem(server.admin("POST", path, {"learned": wrong}), 400, "bad-request")
        late = server.model_reports(contract, 5)  # they answer the model that is rolled back
        assert server.admin("POST", path, {"learned": 25}).json()["version"] == versions[1]
        server.kill()
        server.start()
        assert server.version("model") == versions[1]
        assert server.report("model", *late) == ["accepted"] * 5
        until(lambda: server.summary("model")["learned"] == 30)
        summary = server.summary("model")
        assert (summary["reports"], summary["left_out"], summary["unread"]) == (55, 25, 0)
        overview = server.admin("GET", "/v1/tasks/model/overview").json()
        assert overview["line"]["behind"] == 0
        assert server.stop() == 0
        with contextlib.closing(open_store(server.folder)) as store:
            assert replay(store, store.tasks()[0]) == summary["state"]
    finally:
        server.close()


def test_the_command_rolls_back_and_tickets_that_were_handed_out_before_are_still_taken(
    live, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    server = live.server
    contract = server.create(ARMS | {"id": "back"})
    tickets = server.tickets("back", 30)
    server.report("back", *(ticket_report(contract, ticket) for ticket in tickets[:20]))
    server.caught_up("back")
    monkeypatch.setenv("SOTTOVOCE_ADMIN_TOKEN", TOKEN)
    where = ("--server", f"http://127.0.0.1:{server.port}")
    problem(server.call("GET", "/v1/tasks/back/snapshots"), 401, "unauthorized")
    server.create(ARMS | {"id": "fresh"})
    assert "there is nothing to go back to" in typed("task", "snapshots", "fresh", *where)
    said = typed("task", "snapshots", "back", *where)
    assert "back can be rolled back to any count from 0 to 19; to these at once" in said
    assert re.search(rf"^ +0 +{date.today().isoformat()}", said, re.MULTILINE)
    monkeypatch.setattr(sys, "argv", ["sottovoce", "task", "rollback", "back", "--to", "7", *where])
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 1
    assert "Go back from 20 reports to 7? There is no way back." in capsys.readouterr().out
    assert server.summary("back")["learned"] == 20
    said = typed("task", "rollback", "back", "--to", "7", "--yes", *where)
    assert "no snapshot was kept after 7 reports, so 7 are read again; at once it would go to 0" in said
    said = typed("task", "rollback", "back", "--to", "0", "--yes", *where)
    assert said == "back is back at 0 reports; 7 are learned from no more\n"
    assert server.summary("back")["estimates"][0]["reports"] == 0
    server.report("back", *(ticket_report(contract, ticket) for ticket in tickets[20:]))
    until(lambda: server.summary("back")["learned"] == 10)
