"""Faults that pass: a full disk, a busy database, half a line on a pipe, an entry that cannot be read."""

import asyncio
import os
import sqlite3
from pathlib import Path

import jax
import pytest
from test_folding import journal
from test_store import report

from loading import fill_under_load
from serving import created
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.coordination import pipes
from sottovoce.server.coordination.messages import News, Wish
from sottovoce.server.coordination.pipes import WebProcess
from sottovoce.server.learn.folds import Folds
from sottovoce.server.learn.replaying import replay
from sottovoce.server.store import open_store
from sottovoce.server.store.base import WARM, Journalled, StoreFault, TaskRow
from sottovoce.server.store.sqlite import SqliteStore

# --- the disk --------------------------------------------------------------------------------------------------------


def test_a_full_disk_under_load_loses_nothing_and_everything_goes_on_by_itself(tmp_path: Path):
    acknowledged, retried = fill_under_load(tmp_path / "data", rounds=1, seconds=1.5)
    assert acknowledged > 20
    assert retried > 0


def test_a_full_disk_and_a_busy_database_are_faults_and_an_error_of_ours_is_none(tmp_path: Path):
    store = SqliteStore(tmp_path)
    store.append([report(1)])
    (pages,) = store._journal.execute("PRAGMA page_count").fetchone()
    store._journal.execute(f"PRAGMA max_page_count = {pages}")
    many = [report(n) for n in range(2, 1000)]
    with pytest.raises(StoreFault, match="SQLITE_FULL"):
        store.append(many)
    store._journal.execute("PRAGMA max_page_count = 1000000")
    store.probe()
    store._journal.execute("PRAGMA busy_timeout = 1")
    other = sqlite3.connect(tmp_path / "journal.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for write in (lambda: store.append(many), store.probe):
        with pytest.raises(StoreFault, match="SQLITE_BUSY"):
            write()
    other.close()
    assert store.append(many) == [True] * len(many)
    store._journal.execute("DROP TABLE secrets")
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        store.secret("tickets")
    store.close()


def test_a_journal_that_was_moved_away_is_a_fault_until_it_is_back(tmp_path: Path):
    """What would be written to it could not be found again."""
    folder, away = tmp_path / "data", tmp_path / "away"
    store = SqliteStore(folder)
    store.append([report(1)])
    (folder / "journal.sqlite").rename(away)
    for write in (lambda: store.append([report(2)]), store.probe, store.tidy):
        with pytest.raises(StoreFault, match="not the file that was opened; put that one back"):
            write()
    with pytest.raises(ConfigurationError, match="cannot use"):
        store.clone()
    with pytest.raises(ConfigurationError, match="cannot use"):
        open_store(folder, make=False)
    assert not (folder / "journal.sqlite").exists()
    away.rename(folder / "journal.sqlite")
    store.probe()
    assert store.append([report(1), report(2)]) == [False, True]
    store.close()


def test_a_damaged_file_is_a_fault(tmp_path: Path):
    store = SqliteStore(tmp_path)
    store.append([report(n) for n in range(1000)])
    store.tidy()
    size = (tmp_path / "journal.sqlite").stat().st_size
    with (tmp_path / "journal.sqlite").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with pytest.raises(StoreFault, match="SQLITE_CORRUPT"):
        SqliteStore(tmp_path).append([report(n) for n in range(1000, 2000)])
    store.close()


# --- the pipes -------------------------------------------------------------------------------------------------------


def test_half_a_line_is_not_an_end():
    ear, web_mouth = os.pipe()
    web_ear, mouth = os.pipe()
    web = WebProcess(ear, mouth)
    heard = []
    for said in (b"1", b"2\n\n3\nx\n4", b"5\n7 8", b"9\n1 2 3\n"):
        os.write(web_mouth, said)
        heard.append(web.listen(1.0))
    assert heard == [[], [Wish(12), Wish(3)], [Wish(45)], [Wish(7, 89)]]
    assert web.listen(0.0) == []
    os.close(web_mouth)
    assert web.listen(1.0) is None
    assert web.tell([News(task=7, learned=3)])
    assert os.read(web_ear, 1000).startswith(b'{"task":7,"learned":3,')
    os.close(web_ear)
    assert not web.tell([News(task=7)])
    os.close(ear)
    os.close(mouth)


def test_what_is_no_news_is_passed_over():
    async def heard() -> list[int]:
        stream = asyncio.StreamReader(limit=100)
        stream.feed_data(b'{"task":1}\n\xff\n{"task":"x"}\n' + b"9" * 1000 + b'\n{"task":2}\n{"task":3')
        stream.feed_eof()
        return [news.task async for news in pipes._news(stream)]

    assert asyncio.run(heard()) == [1, 2]


# --- entries that cannot be read -------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 30])
def test_an_entry_that_cannot_be_read_is_left_out_and_counted_once(tmp_path: Path, length: int):
    with jax.enable_x64(True):
        store = open_store(tmp_path)
        bad, good = created(store, id="bad"), created(store, id="good")
        reports = [entry.report for entry in journal(bad.contract, length)]
        store.append(_of(good, reports))
        store.append(_of(bad, [*reports[: length // 2], *_spoiled(reports[0]), *reports[length // 2 :]]))
        learning = Folds(store)
        told = _all_news(learning)
        assert told[bad.number].learned == told[good.number].learned == length
        assert told[bad.number].state == told[good.number].state == replay(store, bad)
        assert [told[row.number].unread for row in (bad, good)] == [5, 0]
        assert not told[bad.number].broken
        learning.finish()
        again = _all_news(Folds(store))
        assert again == told  # and nothing was read again
        store.close()


def _spoiled(good: Journalled) -> list[Journalled]:
    nan = b"\x7f\xf8" + bytes(6)
    wrong = [{"context": b"short"}, {"gate": 9}, {"payload": b""}, {"gate": WARM}, {"gate": WARM, "payload": nan}]
    return [good._replace(id=b"%16d" % n, **change) for n, change in enumerate(wrong)]


def _of(row: TaskRow, reports: list[Journalled]) -> list[Journalled]:
    return [report._replace(task=row.number) for report in reports]


def _all_news(learning: Folds) -> dict[int, News]:
    news = learning.catch_up()
    while learning.behind:
        news += learning.catch_up()
    return {one.task: one for one in news}
