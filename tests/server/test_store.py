"""What every store must do: everything once, in order, all or nothing. A new store is one more line in STORES."""

import contextlib
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from postgres import Postgres
from serving import created
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.coordination.pipes import only_one
from sottovoce.server.store import open_store
from sottovoce.server.store.base import (
    HOUR,
    WARM,
    Action,
    Gap,
    Journalled,
    Kept,
    Publication,
    Snapshot,
    Store,
    Tally,
)
from sottovoce.server.store.postgres.store import PostgresStore
from sottovoce.server.store.sqlite import SqliteStore

STORES = ["sqlite", "postgres"]


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        store = SqliteStore(tmp_path)
    else:
        postgres: Postgres = request.getfixturevalue("postgres")
        store = PostgresStore(postgres.new())
    yield store
    store.close()


def report(number: int, task: int = 1, day: int = 0, gate: int = 0) -> Journalled:
    return Journalled(task, number.to_bytes(16, "big"), day, gate, b"context", b"payload")


def ids(store: Store) -> list[int]:
    store.order(100_000)
    return [int.from_bytes(entry.report.id, "big") for entry in store.entries(0, 100_000)]


def places(store: Store) -> list[int]:
    store.order(100_000)
    return [entry.seq for entry in store.entries(0, 100_000)]


def forgotten(store: Store, day: int, most: int, task: int = 1) -> int:
    """How many reports before this day were deleted, a few at a time."""
    place, gone = 0, 0
    while seen := store.forget(task, day, place, store.last(), most):
        place, gone = seen.last, gone + seen.old
    return gone


# --- any store -------------------------------------------------------------------------------------------------------


def test_a_report_is_kept_once_within_a_batch_and_across(store: Store):
    assert store.append([report(1), report(2), report(1)]) == [True, True, False]
    assert store.append([report(2), report(3), report(3), report(1)]) == [False, True, False, False]
    assert store.append([report(1, task=2)]) == [True]  # another task's
    assert ids(store) == [1, 2, 3, 1]
    assert store.append([]) == []


@pytest.mark.parametrize("count", [1, 3, 4, 5, 255, 256, 257, 1000])
def test_batches_of_any_size_keep_their_order(store: Store, count: int):
    assert store.append([report(n) for n in range(count)]) == [True] * count
    assert ids(store) == list(range(count))
    again = store.append([report(n) for n in range(count // 2, count + 2)])
    assert again == [False] * (count - count // 2) + [True, True]


def test_nothing_is_kept_of_the_order_in_which_reports_came_together(store: Store):
    assert store.append([report(n) for n in (5, 3, 9, 3, 1)]) == [True, True, True, False, True]
    assert ids(store) == [1, 3, 5, 9]
    assert store.append([report(n) for n in (8, 9, 2)]) == [True, False, True]
    assert ids(store) == [1, 3, 5, 9, 2, 8]


def test_a_batch_is_all_or_nothing(store: Store):
    broken = report(2)._replace(payload=None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(Exception):  # noqa: B017, PT011 (each database has its own)
        store.append([*(report(n) for n in range(10, 310)), broken])
    assert ids(store) == []
    assert store.append([report(1)]) == [True]  # and the store still works


def test_the_history_counts_each_private_report_once_in_the_hour_in_which_it_was_kept(store: Store):
    row = created(store)
    store.append([report(1), report(2), report(1), report(3, task=2), report(4, gate=WARM)], hour=7)
    store.append([report(2), report(5), report(3, task=2)], hour=7)
    store.append([report(5), report(6)], hour=8)
    store.append([report(6)], hour=9)  # nothing new in that hour
    with pytest.raises(Exception):  # noqa: B017, PT011 (each database has its own)
        store.append([report(7), report(8)._replace(payload=None)], hour=9)  # pyright: ignore[reportArgumentType]
    assert store.history(1) == [Tally(1, 7, "accepted", 3), Tally(1, 8, "accepted", 1)]
    assert store.history(2) == [Tally(2, 7, "accepted", 1)]
    assert sum(one.reports for one in store.history(row.number)) == store.count(row.number)[0]


def test_the_history_adds_up_and_survives(store: Store):
    store.append([report(1)], hour=7)
    for _ in range(2):
        store.tally([Tally(1, 7, "bad-permit", 3), Tally(1, 8, "bad-gate", 1), Tally(2, 7, "bad-permit", 9)])
    again = store.clone()
    assert again.history(1) == [
        Tally(1, 7, "accepted", 1),
        Tally(1, 7, "bad-permit", 6),
        Tally(1, 8, "bad-gate", 2),
    ]
    again.close()


def test_a_history_of_hours_becomes_one_of_days_and_ends(store: Store):
    hours = [5, 24, 25, 47, 48, 71, 72]
    store.tally([Tally(1, hour, verdict, 1) for hour in hours for verdict in ("accepted", "bad-gate")])
    for _ in range(2):  # thinning twice is thinning once
        store.thin(hourly=48, first=24)
        found = [(hour, count) for _, hour, verdict, count in store.history(1) if verdict == "bad-gate"]
        assert found == [(24, 3), (48, 1), (71, 1), (72, 1)]
        assert len(store.history(1)) == 8
    store.tally([Tally(1, 30, "accepted", 2)])  # comes late: joins its day
    store.thin(hourly=48, first=24)
    assert store.history(1)[0] == Tally(1, 24, "accepted", 5)


def test_a_prediction_stays_with_its_task_and_not_in_its_contract(store: Store):
    row = created(store)
    store.predict(row.number, b"{}")
    assert store.tasks() == [row._replace(prediction=b"{}")]
    store.change(row.number, "apprentice", True)
    assert store.tasks()[0].prediction == b"{}"


def test_what_one_connection_has_kept_another_one_reads(store: Store):
    row = created(store)
    store.append([report(1, task=row.number), report(2, task=row.number + 1)])
    other = store.clone()
    assert other.tasks() == [row]
    assert ids(other) == [1, 2]
    assert [entry.report.id for entry in other.entries_of(row.number, 0)] == [report(1).id]
    other.tidy()
    other.close()
    assert store.append([report(1, task=row.number), report(3)]) == [False, True]


def test_what_is_forgotten_is_gone_but_counted(store: Store):
    row = created(store)
    store.append([report(0, day=9, gate=WARM), report(1, day=9), report(2, day=10), report(3, day=9)])
    *_, third, fourth = places(store)
    assert store.count(row.number) == (3, 1)
    assert store.walk(row.number, day=10, after=0, most=10) == (fourth, 3)
    assert store.forget(row.number, day=10, after=0, seq=third, most=10) == (third, 2)  # the last is beyond the base
    assert ids(store) == [2, 3]
    assert store.count(row.number) == (3, 1)
    store.append([report(4, day=11)])
    *old, new = places(store)
    assert (old, new > fourth) == ([third, fourth], True)  # places are never used again
    assert [entry.seq for entry in store.entries_of(row.number, 0)] == [third, fourth, new]


def test_a_forgotten_report_is_known_until_its_id_is_forgotten_too(store: Store):
    old, new = [report(n, day=9) for n in range(5)], [report(n, day=10) for n in range(5, 8)]
    store.append([*old, *new])
    last_place = places(store)[-1]
    assert store.forget(1, day=10, after=0, seq=last_place, most=10) == (last_place, 5)
    assert store.append([*old, *new]) == [False] * 8
    looked, last = 0, b""
    while (last := store.forget_ids(1, day=10, after=last, most=3)) is not None:
        looked += 1
    assert looked == 3  # of eight ids, three at a time
    assert store.forget_ids(2, day=10, after=b"", most=3) is None
    assert store.append([*old, *new]) == [True] * 5 + [False] * 3


def test_a_place_is_not_used_again_even_when_the_newest_report_is_forgotten(store: Store):
    store.append([report(1), report(2), report(3, task=2)])
    first, second, third = places(store)
    assert [store.forget(1, day=1, after=0, seq=second, most=1) for _ in range(3)] == [(first, 1), (second, 1), None]
    assert forgotten(store, day=1, most=1, task=2) == 1
    store.append([report(4)])
    assert places(store)[0] > third
    assert first < second < third


def test_many_days_are_forgotten_one_after_the_other_and_others_keep_theirs(store: Store):
    for day in range(5, 10):
        store.append([report(10 * day + n, day=day) for n in range(3)])
        if day == 7:
            store.append([report(1000, task=2, day=day)])
        store.order(100)
    assert forgotten(store, day=9, most=2) == 12
    assert ids(store) == [1000, 90, 91, 92]
    assert forgotten(store, day=8, most=2, task=2) == 1
    assert ids(store) == [90, 91, 92]


def test_a_report_from_a_time_when_the_clock_ran_ahead_keeps_no_other(store: Store):
    """And no step looks at more reports than it was told to, however many are kept."""
    for day in (99, 5, 6, 7, 8):
        store.append([report(10 * day + n, day=day) for n in range(2)])
        store.order(100)
    place, seen = 0, []
    while found := store.walk(1, day=7, after=place, most=3):
        place = found.last
        seen.append(found.old)
    assert seen == [1, 3, 0, 0]
    assert store.walk(2, day=7, after=0, most=3) is None
    assert forgotten(store, day=7, most=3) == 4
    assert ids(store) == [990, 991, 70, 71, 80, 81]


def test_tasks_secrets_and_snapshots_survive(store: Store):
    row = created(store)
    store.change(row.number, "apprentice", True)
    secret = store.secret("tickets")
    for learned in (1, 2):
        store.save(row.number, Snapshot(learned, learned, 0, b"state"))
    store.save(row.number, Snapshot(1, 1, 0, b"base", True))
    again = store.clone()
    assert again.tasks() == [row._replace(mode="apprentice", paused=True)]
    assert again.tasks()[0].body == row.body  # the bytes that devices have hashed
    assert again.tasks(after=row.number) == []
    assert again.secret("tickets") == secret == store.secret("tickets")
    assert len(secret) == 32
    assert again.secret("other") != secret
    assert again.snapshot(row.number) == Snapshot(2, 2, 0, b"state", False)
    assert again.snapshot(row.number, base=True) == Snapshot(1, 1, 0, b"base", True)
    assert again.snapshot(row.number + 1) is None
    again.close()


def action(second: int, task: str = "arms", **values) -> Action:
    return Action(1_000 + second, "me", "operate", "pause", task, b"{}", 0, "192.0.2.7")._replace(**values)


def test_actions_are_told_newest_first_by_task_and_page_by_page(store: Store):
    numbers = [store.record(action(n, "arms" if n % 2 else "")) for n in range(6)]
    assert numbers == sorted(set(numbers))
    other = store.clone()
    every = other.actions("", 0, 100)
    assert every == [action(n, "arms" if n % 2 else "", number=numbers[n]) for n in (5, 4, 3, 2, 1, 0)]
    assert other.actions("arms", 0, 100) == every[::2]
    assert other.actions("", 0, 2) == every[:2]
    assert other.actions("", every[1].number, 3) == every[2:5]
    assert other.actions("arms", every[2].number, 1) == [every[4]]
    assert other.actions("nobody", 0, 100) == []
    other.close()


def test_what_became_of_an_action_is_added_to_it_alone(store: Store):
    first, second = store.record(action(1)), store.record(action(2))
    store.amend(first, 202, b'{"learned":7}')
    ended = action(1, number=first, status=202, detail=b'{"learned":7}')
    assert store.actions("", 0, 9) == [action(2, number=second), ended]


def test_old_actions_go_with_the_history_and_their_numbers_do_not_come_back(store: Store):
    last = [store.record(action(0, time=hour * HOUR)) for hour in (47, 48, 49)][-1]
    store.thin(hourly=48, first=48)
    assert [one.time // HOUR for one in store.actions("", 0, 9)] == [49, 48]
    store.thin(hourly=72, first=72)
    assert store.actions("", 0, 9) == []
    assert store.record(action(0)) > last


def test_a_token_is_admitted_once_for_each_task_also_after_a_restart(store: Store):
    assert store.admit(1, b"a" * 16, 100, 50)
    other = store.clone()
    assert not other.admit(1, b"a" * 16, 100, 51)
    assert not store.admit(1, b"a" * 16, 100, 99)
    assert other.admit(2, b"a" * 16, 100, 52)
    assert other.admit(1, b"b" * 16, 100, 53)
    other.close()


def test_of_two_who_show_a_token_at_once_one_is_admitted(store: Store):
    other = store.clone()
    with ThreadPoolExecutor(2) as pool:
        for number in range(50):
            token = (1, number.to_bytes(16, "big"), 100, 50)
            assert sorted(pool.map(lambda one, token=token: one.admit(*token), (store, other))) == [False, True]
    other.close()


def test_tokens_that_have_expired_are_deleted_by_and_by_and_others_never(store: Store):
    tokens = [number.to_bytes(16, "big") for number in range(40)]
    for place, token in enumerate(tokens):
        assert store.admit(1, token, 100 + place % 2, 50)
    for number in range(10):
        assert store.admit(1, bytes([9, number]) * 8, 200, 100)  # those that last until 100 are over
    assert not any(store.admit(1, token, 101, 100) for token in tokens[1::2])
    assert all(store.admit(1, token, 100, 0) for token in tokens[::2])  # known no more


def test_several_snapshots_are_kept_and_those_that_are_named_go(store: Store):
    for learned in (0, 10, 20, 30):
        store.save(1, Snapshot(learned, 2 * learned, 0, b"state %d" % learned, day=7))
    store.save(2, Snapshot(5, 5, 5, b"other"))
    assert store.snapshots(1)[1:3] == [Kept(10, 20, False, 7), Kept(20, 40, False, 7)]
    found = [store.snapshot(1, most=most) for most in (0, 9, 10, 25, 99)]
    assert [one and one.state for one in found] == [b"state 0", b"state 0", b"state 10", b"state 20", b"state 30"]
    store.save(1, Snapshot(40, 80, 40, b"new"), gone=[20, 5])
    assert [one.learned for one in store.snapshots(1)] == [0, 20, 30, 40]
    store.save(1, Snapshot(40, 80, 40, b"newer"))  # the same place again
    store.save(1, Snapshot(30, 60, 0, b"base", True))
    assert [(one.learned, one.base) for one in store.snapshots(1)] == [(30, True), (40, False)]
    store.save(1, Snapshot(30, 60, 0, b"base"), gone=[60])  # a base stays one
    assert store.snapshot(1, base=True) == Snapshot(30, 60, 0, b"base", True)
    assert (store.snapshot(1, most=29), store.snapshot(1)) == (None, Snapshot(40, 80, 40, b"newer"))
    store.roll_back(1, Gap(70, 90, 10), Snapshot(35, 90, 35, b"back"), Publication(35, "v", b"", b"", 0), 0, 0)
    assert [(one.learned, one.seq) for one in store.snapshots(1)] == [(30, 60), (35, 90)]
    assert store.snapshots(2) == [Kept(5, 5, False, 0)]


def test_publications_are_superseded_and_in_the_end_only_their_memo_is_kept(store: Store):
    for learned, memo in ((0, b"memo"), (10, b""), (20, b"memo"), (30, b"")):
        store.publish(1, Publication(learned, f"v{learned}", b"body", memo, 0), now=learned, closed=learned - 15)
    assert store.publications(1) == [
        Publication(0, "v0", b"", b"memo", 10),  # too old to be answered, but old reports still refer to it
        Publication(10, "v10", b"", b"", 20),
        Publication(20, "v20", b"", b"memo", 30),
        Publication(30, "v30", b"body", b"", 0),
    ]
    assert [one.version for one in store.publications(1, after=10)] == ["v20", "v30"]
    store.publish(1, Publication(40, "v40", b"body", b"", 0), now=50, closed=45)
    assert [one.version for one in store.publications(1)] == ["v0", "v20", "v30", "v40"]


def test_rolling_back_is_all_or_nothing_and_a_later_gap_covers_those_that_begin_in_it(store: Store):
    for learned in (10, 20, 30):
        memo = b"memo" if learned == 20 else b""
        store.publish(1, Publication(learned, f"v{learned}", b"body", memo, 0), now=learned, closed=0)
    store.save(1, Snapshot(30, 30, 30, b"late"))
    early, again = Snapshot(10, 30, 10, b"early"), Publication(10, "v10", b"again", b"", 0)
    broken = again._replace(body=None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(Exception):  # noqa: B017, PT011 (each database has its own)
        store.roll_back(1, Gap(10, 30, 20), early, broken, now=40, closed=0)
    assert (store.gaps(1), store.snapshot(1)) == ([], Snapshot(30, 30, 30, b"late"))
    assert store.publications(1)[-1].version == "v30"
    store.roll_back(1, Gap(10, 30, 20), early, again, now=40, closed=35)
    other = store.clone()
    assert (other.gaps(1), other.gaps(2), other.snapshot(1)) == ([Gap(10, 30, 20)], [], early)
    assert other.publications(1) == [
        Publication(20, "v20", b"", b"memo", 30),
        Publication(30, "v30", b"", b"", 40),  # still understood for a while
        Publication(10, "v10", b"again", b"", 0),  # the newest
    ]
    other.publish(1, Publication(20, "w20", b"body", b"memo", 0), now=50, closed=0)
    assert [one.version for one in other.publications(1)] == ["v10", "v20", "v30", "w20"]  # what v20 means is kept
    other.roll_back(1, Gap(35, 40, 5), early, again, now=60, closed=0)
    assert other.gaps(1) == [Gap(10, 30, 20), Gap(35, 40, 5)]
    other.roll_back(1, Gap(10, 50, 35), early, again, now=70, closed=0)
    assert other.gaps(1) == [Gap(10, 50, 35)]
    other.close()


# --- a data folder ---------------------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_used_is_refused_in_words(tmp_path: Path):
    (tmp_path / "journal.sqlite").write_bytes(b"this is no database, and it is long enough to show it" * 20)
    with pytest.raises(ConfigurationError, match=r"cannot use .*journal\.sqlite: file is not a database; put a backup"):
        open_store(tmp_path)


@pytest.mark.parametrize(("version", "writer"), [(0, "Sottovoce 0.1"), (2, "another version of Sottovoce")])
def test_a_folder_of_another_version_is_refused_by_name_and_left_alone(tmp_path: Path, version: int, writer: str):
    old = sqlite3.connect(tmp_path / "journal.sqlite")
    old.executescript(f"CREATE TABLE tasks (number INTEGER, contract BLOB); PRAGMA user_version = {version}")
    with pytest.raises(ConfigurationError, match=f"was written by {writer}.*choose another --data"):
        open_store(tmp_path)
    assert old.execute("SELECT name FROM sqlite_master").fetchall() == [("tasks",)]
    old.close()


def test_what_is_kept_is_readable_by_its_owner_alone(tmp_path: Path):
    store = SqliteStore(tmp_path / "data")
    store.append([report(1)])
    store.publish(1, Publication(0, "", b"body", b"", 0), now=0, closed=0)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "data").iterdir()}
    assert len(modes) == 6
    assert set(modes.values()) == {0o600}
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    store.close()


def test_two_servers_do_not_share_a_folder(tmp_path: Path):
    with only_one("server", tmp_path, wait=False), pytest.raises(ConfigurationError, match="another server uses"):
        only_one("server", tmp_path, wait=False)
    only_one("server", tmp_path, wait=False).close()


def test_a_folder_that_nobody_may_write_to_is_refused_in_words(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match=r"cannot write to .*let this user write there, or choose"):
        only_one("server", tmp_path / "file" / "data", wait=False)


def test_a_long_log_of_the_embedded_store_starts_anew_while_reports_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("sottovoce.server.store.sqlite.LONGEST_LOG", 8)
    log = tmp_path / "journal.sqlite-wal"
    with contextlib.closing(SqliteStore(tmp_path)) as store, contextlib.closing(store.clone()) as other:
        created(store)
        for n in range(300):
            store.append([report(n)])
            if n % 10 == 9:
                other.tidy()
        assert log.stat().st_size < 100 * 4096  # each report takes several pages
        assert ids(store) == list(range(300))
