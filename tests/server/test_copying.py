"""A store that is copied: everything arrives, whichever way, and a server learns on as if nothing had been."""

import contextlib
import itertools
import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import psycopg
import pytest

from loading import more
from postgres import Postgres
from serving import ARMS, MODEL, Server, created, model_report, ticket_report
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.coordination.messages import Wish
from sottovoce.server.coordination.pipes import only_one
from sottovoce.server.learn.folds import Folds
from sottovoce.server.learn.replaying import replay
from sottovoce.server.store import open_store, reading, writing
from sottovoce.server.store.base import WARM, Action, Journalled, Publication, Store, Tally, Unread
from sottovoce.server.store.copying import check_empty, copy, rows_of
from sottovoce.server.store.migrations import Migration
from sottovoce.server.store.postgres import migrating
from sottovoce.server.store.whole import TABLES, Last, Table, digest_of
from test_cli import refused, typed

KINDS = ("sqlite", "postgres")
Place = Callable[[str], str]


@pytest.fixture
def new(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    """The address of a new store of a kind."""
    numbers = itertools.count()

    def made(kind: str) -> str:
        if kind == "sqlite":
            return f"sqlite:{tmp_path / str(next(numbers))}"
        postgres: Postgres = request.getfixturevalue("postgres")
        return postgres.new()

    return made


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@contextlib.contextmanager
def opened(address: str) -> Iterator[Store]:
    with contextlib.closing(open_store(address)) as store:
        yield store


def used(address: str) -> str:
    """Fill a store with something of each kind that there is; the state of what was learned."""
    with opened(address) as store:
        row = created(store)
        other = created(store, id="other")
        for name in ("tickets", "admission", "é", "Z"):
            store.secret(name)
        more(store, range(30))
        learning = Folds(store)
        learning.catch_up()
        learning.grant([Wish(row.number, 20), Wish(row.number)])
        state = more(store, range(30, 70))
        store.change(other.number, "apprentice", True)
        store.predict(other.number, b"{}")
        late = Journalled(row.number, b"late" * 4, 3, WARM, b"", b"")
        store.append([late._replace(task=other.number)], hour=5)  # PostgreSQL: comes without a place
        store.tally([Tally(1, hour, verdict, 2) for hour in (1, 2) for verdict in ("bad-gate", "Z", "é")])
        for number in range(3):
            store.record(Action(number, "me", "operate", "pause", "arms", b"{}", 200, "192.0.2.7"))
        store.admit(row.number, b"token" * 3, 100, 50)
        store.leave_out(row.number, [Unread(9999, "KeyError")])
        store.publish(other.number, Publication(0, "é", b"", b"memo", 5), 0, 0)
        store.publish(other.number, Publication(0, "Z", b"body", b"", 0), 0, 0)
        return state


def copied(source: str, target: str) -> str:
    """The digest, of both."""
    with reading(source) as old, writing(target) as empty:
        done = copy(old, empty)
    assert done.source == done.target
    return done.source


def digest(address: str) -> str:
    with reading(address) as whole:
        return digest_of(whole)


def every_row(address: str) -> dict[str, list[tuple[Any, ...]]]:
    with reading(address) as whole:
        return {table.name: [row for rows in whole.rows(table) for row in rows] for table in TABLES}


@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
def test_a_copy_has_everything_and_learns_on_to_the_same_bits(source: str, target: str, new: Place):
    first, second = new(source), new(target)
    state = used(first)
    assert copied(first, second) == digest(first) == digest(second)
    rows = every_row(second)
    assert rows == every_row(first)
    assert all(rows.values())  # something of everything was there to be copied
    with opened(first) as one, opened(second) as other:
        task = one.tasks()[0]
        assert replay(one, task) == replay(other, task) == state
        assert [store.count(task.number) for store in (one, other)] == [(70, 0)] * 2
        known = next(one.entries_of(task.number, 0)).report
        forgotten = Journalled(task.number, (0).to_bytes(16, "big"), 0, 0, b"", b"")
        for store in (one, other):
            assert store.append([known, forgotten]) == [False, False]
            assert not store.admit(task.number, b"token" * 3, 100, 50)
            assert store.record(Action(9, "me", "operate", "pause", "arms", b"{}", 200, "")) == 4
            assert created(store, id="third").number > 2
        assert one.secret("tickets") == other.secret("tickets")
        states = {more(store, range(70, 100)) for store in (one, other)}
        assert states == {replay(one, task), replay(other, task)}
        assert len(states) == 1


COLUMNS = {
    "sqlite": "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'",
    "postgres": "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()",
}
NOT_KEPT = {
    "sqlite_sequence", "clock", "format", "places", "groups", "inbox", "leader", "news", "wishes", "journal_20000",
}  # fmt: skip
"""Numbers, which `Last` and the format have; the hour that it is; reports that have no place yet; and what servers say
to each other."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_leaves_out_no_table_and_no_column(kind: str, new: Place):
    address, found = new(kind), defaultdict(set)
    with opened(address) as store:
        store.append([Journalled(1, b"one", 20_000, 0, b"", b"")])
        store.order(1)
    with contextlib.ExitStack() as end:
        if kind == "postgres":
            databases: list[Any] = [end.enter_context(psycopg.connect(address))]
        else:
            files = Path(address.removeprefix("sqlite:")).glob("*.sqlite")
            databases = [end.enter_context(contextlib.closing(sqlite3.connect(file))) for file in files]
        for database in databases:
            for table, column in database.execute(COLUMNS[kind]).fetchall():
                found[table].add(column)
    assert {name: columns for name, columns in found.items() if name not in NOT_KEPT} == {
        table.name: {*table.columns} for table in TABLES
    }


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_what_was_deleted_are_not_given_again_after_a_copy(kind: str, new: Place):
    first, second, third = new(kind), new("postgres" if kind == "sqlite" else "sqlite"), new(kind)
    with opened(first) as store:
        store.append([Journalled(1, bytes([n]) * 16, 5, 0, b"", b"") for n in range(9)])
        store.order(100)
        last, action = store.last(), store.record(Action(0, "", "", "", "", b"", 0, ""))
        while seen := store.forget(1, day=6, after=0, seq=last, most=10):
            assert seen.old
        store.thin(48, 48)
    copied(first, second)
    assert copied(second, third) == digest(first)
    with reading(third) as whole:
        assert whole.last() == Last(last, action)
    for address in (second, third):
        with opened(address) as store:
            store.append([Journalled(1, b"new" * 5, 5, 0, b"", b"")])
            store.order(100)
            assert store.last() > last
            assert store.record(Action(0, "", "", "", "", b"", 0, "")) > action


def test_reports_of_many_days_that_came_from_sqlite_are_forgotten_by_their_day(new: Place):
    """Their places are those of one partition, which must not go as a whole."""
    first, second = new("sqlite"), new("postgres")
    with opened(first) as store:
        for day in (5, 6, 7):
            store.append([Journalled(1, bytes([day, n]) * 8, day, 0, b"", b"") for n in range(3)])
    copied(first, second)
    with opened(second) as store:
        assert store.forget(1, day=6, after=0, seq=store.last(), most=100) == (store.last(), 3)
        assert [entry.report.day for entry in store.entries(0, 100)] == [6, 6, 6, 7, 7, 7]
        store.append([Journalled(1, b"today" * 3, 20_000, 0, b"", b"")])
        store.order(100)
        assert store.forget(1, day=8, after=0, seq=store.last(), most=100) == (0, 6)
        assert [entry.report.day for entry in store.entries(0, 100)] == [20_000]


@pytest.mark.parametrize("kind", KINDS)
def test_a_digest_notices_any_row_that_is_missing_or_different(kind: str, new: Place):
    address = new(kind)
    used(address)
    rows, seen = every_row(address), set()

    class Changed:
        name = "changed"

        def __init__(self, of: str, how: Callable[[list], list]) -> None:
            self._of, self._how = of, how

        def rows(self, table: Table) -> Iterator[list]:
            yield self._how(rows[table.name]) if table.name == self._of else rows[table.name]

        def last(self) -> Last:
            return Last(1, 1)

    changes: list[Callable[[list], list]] = [lambda found: found[1:], lambda found: [*found[:-1], found[-1][::-1]]]
    for table in TABLES:
        seen |= {digest_of(Changed(table.name, how)) for how in changes}  # pyright: ignore[reportArgumentType]
    seen.add(digest_of(Changed("none", list)))  # pyright: ignore[reportArgumentType]
    assert len(seen) == 2 * len(TABLES) + 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_that_differs_is_not_kept_and_says_so(kind: str, new: Place, monkeypatch: pytest.MonkeyPatch):
    first, second = new("sqlite"), new(kind)
    used(first)
    with monkeypatch.context() as patch:
        with writing(new(kind)) as one:
            whole, add = type(one), type(one).add
        patch.setattr(whole, "add", lambda to, table, rows: add(to, table, rows[table.name == "journal" :]))
        with pytest.raises(ConfigurationError, match="the copy differs and was not kept"):
            copied(first, second)
    with reading(second) as whole:
        assert rows_of(whole) == 0
    assert copied(first, second) == digest(first)  # and it works when it is tried again


def test_the_command_says_both_digests_and_refuses_a_target_that_is_not_empty(new: Place):
    first, second = new("sqlite"), new("postgres")
    used(first)
    said = typed("store", "copy", first, second)
    assert re.findall(r"^[0-9a-f]{64}", said, re.MULTILINE) == 2 * [digest(first)]
    assert "71 reports among it" in said
    before = digest(second)
    for target in (second, first):
        assert "is not empty (it has secrets, tasks" in " ".join(refused("store", "copy", new_of(new), target).split())
    assert digest(second) == before


def new_of(new: Place) -> str:
    """Another store, with one task."""
    address = new("sqlite")
    with opened(address) as store:
        created(store)
    return address


def test_what_somebody_uses_is_neither_copied_nor_filled(new: Place, tmp_path: Path):
    first, second = new("sqlite"), new("postgres")
    used(first)
    with only_one("server", Path(first.removeprefix("sqlite:")), wait=False):
        assert "another server uses" in refused("store", "copy", first, second)
        assert "another server uses" in refused("store", "copy", new_of(new), first)
    copied(first, second)
    with opened(second):
        for words in ((second, new("sqlite")), (new_of(new), second)):
            assert "stop them on all hosts" in " ".join(refused("store", "copy", *words).split())
    with psycopg.connect(second, autocommit=True) as database:
        database.execute("UPDATE leader SET until = clock_timestamp() + interval '9 seconds'")
        assert "was elected" in refused("store", "copy", second, new("sqlite"))
        database.execute("UPDATE leader SET until = '-infinity'")
    none = tmp_path / "none"
    assert "there is no" in refused("store", "copy", f"sqlite:{none}", new("sqlite"))
    assert "has no store" in refused("store", "copy", new("postgres"), new("sqlite"))
    assert not none.exists()


def test_nobody_writes_to_a_database_while_it_is_read(new: Place):
    address = new("postgres")
    used(address)
    with reading(address), psycopg.connect(address, autocommit=True) as other:
        other.execute("SET lock_timeout = '100ms'")
        for statement in ("DELETE FROM ids", "UPDATE tasks SET paused = true", "DELETE FROM journal"):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                other.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_a_store_of_a_later_format_is_refused_even_if_older_versions_may_use_it(
    new: Place, monkeypatch: pytest.MonkeyPatch
):
    """A version copies only the tables that it knows."""
    address = new("postgres")
    later = Migration(9, 8, "A table for notes.", ("CREATE TABLE notes (body text)",))
    with monkeypatch.context() as patch:
        patch.setattr(migrating, "MIGRATIONS", (*migrating.MIGRATIONS, later))
        migrating.migrate(address)
    with opened(address):
        pass  # it may be used
    assert "knows format 8" in " ".join(refused("store", "copy", address, new("sqlite")).split())
    assert "knows format 8" in " ".join(refused("store", "copy", new_of(new), address).split())


def test_an_empty_store_is_one_that_no_server_was_started_on(new: Place):
    for kind in KINDS:
        address = new(kind)
        with writing(address) as whole:
            check_empty(whole)
        with opened(address) as store:
            store.secret("tickets")
        with writing(address) as whole, pytest.raises(ConfigurationError, match=r"not empty \(it has secrets\)"):
            check_empty(whole)


def test_people_notice_nothing_when_a_server_moves_there_and_back(new: Place, tmp_path: Path):
    """Permits and tickets from before are honoured once, and what was learned goes on."""
    first, second, third = f"sqlite:{tmp_path / 'a'}", new("postgres"), f"sqlite:{tmp_path / 'c'}"
    servers = [Server(tmp_path / name, store=store) for name, store in (("a", ""), ("b", second), ("c", ""))]
    server = servers[0].start()
    try:
        contracts = {file["id"]: server.create(file) for file in (ARMS, MODEL, ARMS | {"id": "idle"})}
        arms, model = contracts["arms"], contracts["model"]
        tickets, permits, version = server.tickets("arms", 90), server.permits("model", 90), server.version("model")
        sent: list[tuple[str, dict[str, Any]]] = []
        states: dict[str, str] = {}
        for turn, server in enumerate(servers):
            if turn:
                servers[turn - 1].stop()
                old = (first, second)[turn - 1]
                assert typed("task", "replay", "arms", "--store", old).strip() == states["arms"]
                typed("store", "copy", *(first, second, third)[turn - 1 : turn + 1])
                server.start().ready()
                assert {task: server.caught_up(task)["state"] for task in contracts} == states
                for task, report in sent:
                    assert server.report(task, report) == ["duplicate"]
            now = slice(30 * turn, 30 * turn + 30)
            new_ones = [("arms", ticket_report(arms, one)) for one in tickets[now]]
            new_ones += [("model", model_report(model, one, version)) for one in permits[now]]
            for task in ("arms", "model"):
                reports = [report for of, report in new_ones if of == task]
                assert server.report(task, *reports) == ["accepted"] * len(reports)
            sent += new_ones[::10]
            states = {task: server.caught_up(task)["state"] for task in contracts}
        server.stop()
        with opened(third) as store:
            assert {row.contract.id: replay(store, row) for row in store.tasks()} == states
            assert [store.count(row.number) for row in store.tasks()] == [(90, 0), (90, 0), (0, 0)]
    finally:
        for server in servers:
            server.close()
