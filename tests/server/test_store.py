"""The journal and the store: everything once, all or nothing, and durable before anybody is told."""

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from serving import contract
from sottovoce.protocol.contract import Status
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server import logs
from sottovoce.server.hub import Hub, running
from sottovoce.server.serve import only_server
from sottovoce.server.store import WARM, Publication, Report, Snapshot
from sottovoce.server.store.journal import Journal
from sottovoce.server.store.sqlite import SqliteStore
from sottovoce.server.web.problems import Problem


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path)
    yield store
    store.close()


def report(number: int, task: int = 1, day: int = 0, gate: int = 0) -> Report:
    return Report(task, number.to_bytes(16, "big"), day, gate, b"context", b"payload")


def ids(store: SqliteStore) -> list[int]:
    return [int.from_bytes(entry.report.id, "big") for entry in store.entries(0, 100_000)]


# --- the store -------------------------------------------------------------------------------------------------------


def test_a_report_is_kept_once_within_a_batch_and_across(store: SqliteStore):
    assert store.append([report(1), report(2), report(1)]) == [True, True, False]
    assert store.append([report(2), report(3), report(3), report(1)]) == [False, True, False, False]
    assert store.append([report(1, task=2)]) == [True]  # another task's
    assert ids(store) == [1, 2, 3, 1]
    assert store.append([]) == []


@pytest.mark.parametrize("count", [1, 3, 4, 5, 255, 256, 257, 1000])
def test_batches_of_any_size_keep_their_order(store: SqliteStore, count: int):
    assert store.append([report(n) for n in range(count)]) == [True] * count
    assert ids(store) == list(range(count))
    again = store.append([report(n) for n in range(count // 2, count + 2)])
    assert again == [False] * (count - count // 2) + [True, True]


def test_a_batch_is_all_or_nothing(store: SqliteStore):
    broken = report(2)._replace(payload=None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(sqlite3.IntegrityError):
        store.append([*(report(n) for n in range(10, 310)), broken])
    assert ids(store) == []
    assert store.append([report(1)]) == [True]  # and the store still works


def test_what_is_forgotten_is_gone_but_counted(store: SqliteStore):
    row = store.create(contract(), Status())
    store.append([report(0, day=9, gate=WARM), report(1, day=9), report(2, day=10), report(3, day=9)])
    assert store.count(row.number) == (4, 1)
    assert store.oldest(row.number) == 9
    assert store.forget(row.number, day=10, seq=3) == 2  # the last one is beyond the base
    assert ids(store) == [2, 3]
    assert store.count(row.number) == (4, 0)
    store.append([report(4, day=11)])
    assert [entry.seq for entry in store.entries_of(row.number, 0)] == [3, 4, 5]  # places are never used again


def test_a_place_is_not_used_again_even_when_the_newest_report_is_forgotten(store: SqliteStore):
    store.append([report(1), report(2)])
    store.forget(1, day=1, seq=2)
    store.append([report(3)])
    assert [entry.seq for entry in store.entries(0, 10)] == [3]


def test_tasks_secrets_and_snapshots_survive(store: SqliteStore, tmp_path: Path):
    row = store.create(contract(), Status())
    store.set_status(row.number, Status(paused=True))
    secret = store.secret("tickets")
    for learned in (1, 2):
        store.save(row.number, Snapshot(learned, learned, 0, b"state"))
    store.save(row.number, Snapshot(1, 1, 0, b"base", True))
    again = SqliteStore(tmp_path)
    assert again.tasks() == [row._replace(status=Status(paused=True))]
    assert again.secret("tickets") == secret == store.secret("tickets")
    assert len(secret) == 32
    assert again.secret("other") != secret
    assert again.snapshot(row.number) == Snapshot(2, 2, 0, b"state", False)
    assert again.snapshot(row.number, base=True) == Snapshot(1, 1, 0, b"base", True)
    assert again.snapshot(row.number + 1) is None
    again.close()


def test_publications_are_superseded_and_in_the_end_only_their_memo_is_kept(store: SqliteStore):
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


def test_a_folder_that_cannot_be_used_is_refused_in_words(tmp_path: Path):
    (tmp_path / "journal.sqlite").write_bytes(b"this is no database, and it is long enough to show it" * 20)
    with pytest.raises(ConfigurationError, match=r"cannot use .*journal\.sqlite"):
        SqliteStore(tmp_path)


def test_two_servers_do_not_share_a_folder(tmp_path: Path):
    with only_server(tmp_path), pytest.raises(ConfigurationError, match="another server uses"):
        only_server(tmp_path)
    only_server(tmp_path).close()


# --- the writer ------------------------------------------------------------------------------------------------------


class Watched(SqliteStore):
    """Counts its transactions, and refuses some."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.groups: list[int] = []

    def append(self, reports):
        self.groups.append(len(reports))
        if reports[0].payload == b"broken":
            raise OSError("the disk is full")
        return super().append(reports)


def test_one_commit_answers_everyone(tmp_path: Path):
    async def scene() -> tuple[list[list[bool]], list[int], int]:
        journal = Journal(store := Watched(tmp_path))
        waiting = [journal.append([report(n), report(n + 100), report(0)]) for n in range(1, 51)]
        answers = await asyncio.gather(*waiting)
        store.close()
        return list(answers), store.groups, journal.waiting

    answers, groups, waiting = asyncio.run(scene())
    assert answers == [[True, True, True]] + [[True, True, False]] * 49
    assert groups == [150]  # fifty requests, one sync
    assert waiting == 0


def test_a_failed_commit_tells_everyone_and_the_next_one_works(tmp_path: Path):
    async def scene() -> list[object]:
        journal = Journal(store := Watched(tmp_path))
        broken = report(1)._replace(payload=b"broken")
        failed = await asyncio.gather(journal.append([broken]), journal.append([report(2)]), return_exceptions=True)
        worked = await journal.append([report(1), report(2)])
        store.close()
        return [*failed, worked]

    first, second, worked = asyncio.run(scene())
    assert isinstance(first, OSError)
    assert isinstance(second, OSError)
    assert worked == [True, True]


def test_what_waits_is_written_before_the_end(tmp_path: Path):
    async def scene() -> list[list[bool]]:
        journal = Journal(store := SqliteStore(tmp_path))
        waiting = [asyncio.ensure_future(journal.append([report(n)])) for n in range(20)]
        await asyncio.sleep(0)
        journal.flush()
        assert len(ids(store)) == 20
        answers = await asyncio.gather(*waiting)
        store.close()
        return answers

    assert asyncio.run(scene()) == [[True]] * 20


def test_whoever_goes_away_takes_nobody_along(tmp_path: Path):
    async def scene() -> list[bool]:
        journal = Journal(store := SqliteStore(tmp_path))
        gone, stays = (asyncio.ensure_future(journal.append([report(n)])) for n in range(2))
        asyncio.get_running_loop().call_soon(gone.cancel)
        answer = await stays
        store.close()
        return answer

    assert asyncio.run(scene()) == [True]


def test_more_than_the_disk_can_take_is_sent_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sottovoce.server.store.journal.LARGEST_QUEUE", 5)

    async def scene() -> None:
        journal = Journal(store := SqliteStore(tmp_path))
        first = journal.append([report(n) for n in range(4)])
        second = journal.append([report(8), report(9)])
        _, refused = await asyncio.gather(first, second, return_exceptions=True)
        assert isinstance(refused, Problem)
        assert (refused.status, refused.retry_after) == (503, 1)
        assert await journal.append([report(8), report(9)]) == [True, True]
        store.close()

    asyncio.run(scene())


def test_background_work_that_ends_is_lamented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any):
    async def fails(self: Hub) -> None:
        raise OSError("no space left")

    async def rests(self: Hub) -> None:
        await asyncio.Event().wait()

    async def run() -> bool:
        async with running(tmp_path) as hub:
            await asyncio.sleep(0.01)
            hub._learner = SimpleNamespace(returncode=None, stdin=None)
            return hub.ready

    monkeypatch.setattr(Hub, "_keep_learning", rests)
    monkeypatch.setattr(logs.LOG, "propagate", True)
    with caplog.at_level("CRITICAL"):
        assert asyncio.run(run())
        monkeypatch.setattr(Hub, "_keep_tidy", fails)
        assert not asyncio.run(run())
    assert [record.fields for record in caplog.records] == [{"work": "tidying", "error": "OSError"}]
