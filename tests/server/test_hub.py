"""The web process between its store and its learner: durable before anybody is told, and never waiting for the disk."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from test_store import ids, report

from serving import created, task_file
from sottovoce.protocol.contract import DAY
from sottovoce.report.describe import facts
from sottovoce.server import logs
from sottovoce.server.admins import Admins
from sottovoce.server.coordination.messages import News, Wish
from sottovoce.server.problems import Problem
from sottovoce.server.store.base import Publication, Published, StoreFault, Tally
from sottovoce.server.store.sqlite import SqliteStore
from sottovoce.server.store.thread import StoreThread
from sottovoce.server.web.app import Application
from sottovoce.server.web.history import History
from sottovoce.server.web.hub import Hub


class Watched(SqliteStore):
    """Counts its transactions, takes its time, and refuses some."""

    seconds = 0.0

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.groups: list[int] = []

    def append(self, reports, hour=0):
        self.groups.append(len(reports))
        time.sleep(self.seconds)
        if reports[0].payload == b"broken":
            raise OSError("the disk is full")
        return super().append(reports, hour)

    def create(self, id, body, mode):
        row = super().create(id, body, mode)
        time.sleep(self.seconds)
        return row


def played(store: Watched, scene: Callable[[StoreThread], Awaitable[Any]]) -> Any:
    """What the scene returns."""

    async def play() -> Any:
        thread = StoreThread(store)
        try:
            return await scene(thread)
        finally:
            await thread.close()

    return asyncio.run(play())


# --- the thread of the store -----------------------------------------------------------------------------------------


def test_one_commit_answers_everyone(tmp_path: Path):
    store = Watched(tmp_path)

    async def scene(thread: StoreThread) -> tuple[list[list[bool]], int]:
        waiting = [thread.append([report(n), report(n + 100), report(0)]) for n in range(1, 51)]
        return await asyncio.gather(*waiting), thread.waiting

    answers, waiting = played(store, scene)
    assert answers == [[True, True, True]] + [[True, True, False]] * 49
    assert store.groups == [150]  # fifty requests, one sync
    assert waiting == 0


def test_what_comes_during_a_commit_is_the_next_group_and_keeps_its_order(tmp_path: Path):
    store = Watched(tmp_path)
    store.seconds = 0.05

    async def scene(thread: StoreThread) -> list[int]:
        first = asyncio.ensure_future(thread.append([report(0)]))
        await asyncio.sleep(0.01)
        await asyncio.gather(first, *(thread.append([report(n)]) for n in range(1, 6)))
        return await thread.run(ids, store)

    assert played(store, scene) == [0, 1, 2, 3, 4, 5]
    assert store.groups == [1, 5]


def test_a_failed_commit_tells_everyone_and_the_next_one_works(tmp_path: Path):
    async def scene(thread: StoreThread) -> list[object]:
        broken = report(1)._replace(payload=b"broken")
        failed = await asyncio.gather(thread.append([broken]), thread.append([report(2)]), return_exceptions=True)
        return [*failed, await thread.append([report(1), report(2)]), thread.waiting]

    first, second, worked, waiting = played(Watched(tmp_path), scene)
    assert isinstance(first, OSError)
    assert isinstance(second, OSError)
    assert (worked, waiting) == ([True, True], 0)


def test_what_waits_is_written_before_the_end(tmp_path: Path):
    store = Watched(tmp_path)
    store.seconds = 0.02

    async def scene(thread: StoreThread) -> list[asyncio.Future[list[bool]]]:
        waiting = []
        for n in range(20):
            waiting.append(asyncio.ensure_future(thread.append([report(n)])))
            await asyncio.sleep(0.001)
        return waiting

    played(store, scene)
    assert len(store.groups) > 1
    again = SqliteStore(tmp_path)
    assert ids(again) == list(range(20))
    again.close()


def test_whoever_goes_away_takes_nobody_along(tmp_path: Path):
    async def scene(thread: StoreThread) -> list[bool]:
        gone, stays = (asyncio.ensure_future(thread.append([report(n)])) for n in range(2))
        asyncio.get_running_loop().call_soon(gone.cancel)
        return await stays

    assert played(Watched(tmp_path), scene) == [True]


def test_whoever_waits_for_a_silent_disk_is_told_and_what_was_sent_is_kept_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("sottovoce.server.store.thread.ANSWER_SECONDS", 0.1)
    monkeypatch.setattr("sottovoce.server.store.thread.WATCH_SECONDS", 0.02)
    store = Watched(tmp_path)
    store.seconds = 0.5

    async def scene(thread: StoreThread) -> list[list[bool]]:
        written = asyncio.ensure_future(thread.append([report(0)]))
        await asyncio.sleep(0.05)
        refused = await asyncio.gather(written, thread.append([report(1)]), return_exceptions=True)
        assert [one.document.status for one in refused if isinstance(one, Problem)] == [503, 503]
        assert thread.faulty
        store.seconds = 0.0
        while thread.waiting:
            await asyncio.sleep(0.01)
        return [await thread.append([report(n)]) for n in range(3)]

    assert played(store, scene) == [[False], [False], [True]]


def test_more_than_the_disk_can_take_is_sent_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sottovoce.server.store.thread.LARGEST_QUEUE", 5)

    async def scene(thread: StoreThread) -> None:
        first = thread.append([report(n) for n in range(4)])
        second = thread.append([report(8), report(9)])
        _, refused = await asyncio.gather(first, second, return_exceptions=True)
        assert isinstance(refused, Problem)
        assert (refused.document.status, refused.headers["retry-after"]) == (503, "1")
        assert await thread.append([report(8), report(9)]) == [True, True]

    played(Watched(tmp_path), scene)


# --- the history -----------------------------------------------------------------------------------------------------


def test_refusals_that_the_disk_did_not_take_are_written_once_when_it_does(tmp_path: Path):
    now, days = [1000.0 * DAY], []

    class Full(Watched):
        full = True

        def tally(self, tallies):
            if self.full:
                raise StoreFault("the disk is full")
            super().tally(tallies)

        def thin(self, hourly, first):
            days.append((hourly, first))

    store = Full(tmp_path)

    async def scene(thread: StoreThread) -> None:
        history = History(thread, lambda: now[0])
        history.refuse(1, "bad-gate", 2)
        with pytest.raises(Problem):
            await history.write()
        now[0] += 3600
        history.refuse(1, "bad-gate", 3)
        store.full = False
        for _ in range(2):
            await history.write()
        assert store.history(1) == [Tally(1, 24000, "bad-gate", 2), Tally(1, 24001, "bad-gate", 3)]
        now[0] += DAY
        await history.write()
        assert days == [(24 * 998, 24 * 600), (24 * 999, 24 * 601)]  # once a day, in whole days

    played(store, scene)


# --- the hub ---------------------------------------------------------------------------------------------------------


class Idle:
    """A learner that runs and does nothing."""

    running = leads = True
    pid = 0

    def wake(self) -> None: ...

    def announce(self) -> None: ...

    def ask(self, wish: Wish) -> None: ...

    async def run(self, told: Callable[[News], Awaitable[None]], restarted: Callable[[], None]) -> None:
        await asyncio.Event().wait()

    async def stop(self) -> None: ...


async def asked(application: Application, path: str) -> int:
    """The status of the answer to a GET."""
    return (await answered(application, path))[0]


async def answered(application: Application, path: str) -> tuple[int, bytes]:
    """The status and the body of the answer to a GET."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("a GET has no body")

    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "client": None, "query_string": b""}
    await application(scope, receive, send)
    return sent[0]["status"], sent[1]["body"]


class Slow(SqliteStore):
    """Takes its time to tidy up, and tells when it does so and when it is closed."""

    told: ClassVar[list[str]] = []

    def tidy(self):
        self.told.append("tidies")
        time.sleep(0.3)
        self.told.append("has tidied")
        super().tidy()

    def clone(self):
        return Slow(self._folder)

    def close(self):
        super().close()
        self.told.append("closed")


def test_the_connection_that_tidies_up_is_closed_when_it_has_done_so(tmp_path: Path):
    async def scene() -> None:
        async with Hub(Slow(tmp_path), Idle()):
            while not Slow.told:
                await asyncio.sleep(0.01)

    asyncio.run(scene())
    assert Slow.told == ["tidies", "has tidied", "closed", "closed"]


def test_other_requests_are_answered_while_the_disk_works(tmp_path: Path):
    store = Watched(tmp_path)
    created(store)
    store.seconds = 0.5

    async def scene() -> tuple[int, list[bool]]:
        async with Hub(store, Idle()) as hub:
            application = Application(hub, Admins(), 0.0)
            start, answered = time.monotonic(), 0
            slow = asyncio.ensure_future(hub._thread.append([report(1)]))
            while not slow.done():
                assert await asked(application, "/v1/tasks/arms") == 200
                await asyncio.sleep(0)
                answered += 1
            assert time.monotonic() - start >= 0.5
            return answered, slow.result()

    answered, fresh = asyncio.run(scene())
    assert answered > 50
    assert fresh == [True]


def test_news_of_a_task_that_is_just_being_created_is_not_lost(tmp_path: Path):
    store = Watched(tmp_path)
    store.seconds = 0.3

    async def scene() -> None:
        async with Hub(store, Idle()) as hub:
            creating = asyncio.ensure_future(hub.create(task_file()))
            reader = SqliteStore(tmp_path)
            while not (rows := reader.tasks()):
                await asyncio.sleep(0.01)
            reader.close()
            await hub._told(News(task=rows[0].number, broken=True))
            with pytest.raises(Problem, match="its learner fails"):
                await asyncio.wait_for(creating, 5)

    asyncio.run(scene())


def test_background_work_that_fails_is_logged_once_and_goes_on_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
):
    left = [OSError("no space left"), OSError("no space left"), StoreFault("busy")]

    class Failing(Watched):
        def tidy(self):
            if left:
                raise left.pop()
            super().tidy()

        def clone(self):
            return Failing(tmp_path)

    async def until(claim: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not claim():
                await asyncio.sleep(0.005)

    async def run() -> None:
        async with Hub(Failing(tmp_path), Idle()) as hub:
            assert not hub.trouble
            await hub._thread.append([report(1)])
            await until(lambda: "fails" in hub.trouble)
            await until(lambda: not hub.trouble)

    monkeypatch.setattr(logs.LOG, "propagate", True)
    monkeypatch.setattr("sottovoce.server.web.hub.TIDY_SECONDS", 0.01)
    with caplog.at_level("ERROR"):
        asyncio.run(run())
    assert not left
    once = dict.fromkeys(caplog.records)  # it may be caught by two handlers
    assert [record.fields for record in once] == [{"work": "tidying"}]


def test_news_of_a_task_that_the_server_missed_brings_it_back(tmp_path: Path):
    """Whoever created it went away between the disk and the answer."""
    store = Watched(tmp_path)

    async def scene() -> list[str]:
        async with Hub(store, Idle()) as hub:
            row = await hub._thread.run(created, store)
            await hub._told(News(task=row.number, broken=True))
            return list(hub.tasks)

    assert asyncio.run(scene()) == ["arms"]


def test_a_task_that_is_set_aside_and_what_could_not_be_read_are_seen(tmp_path: Path):
    store = Watched(tmp_path)
    failing, working = created(store), created(store, id="other")
    for row in (failing, working):
        store.publish(row.number, Publication(0, "", msgspec.msgpack.encode(Published()), b"", 0), now=0, closed=0)

    async def scene() -> None:
        async with Hub(store, Idle()) as hub:
            application = Application(hub, Admins(), 0.0)
            await hub._told(News(task=working.number, unread=3))
            await hub._told(News(task=failing.number, broken=True))
            assert await answered(application, "/readyz") == (200, b'{"ready":true,"set_aside":["arms"]}')
            page = hub.metrics_page()
            assert b'sottovoce_set_aside{task="arms"} 1.0' in page
            assert b'sottovoce_set_aside{task="other"} 0.0' in page
            assert b'sottovoce_unread{task="other"} 3.0' in page
            told = [dict(facts(task.contract, task.status(0.0), task.summary())).keys() for task in hub.tasks.values()]
            assert ["set aside" in one for one in told] == [True, False]
            assert ["unread" in one for one in told] == [False, True]
            await hub._told(News(task=0, faulty=True))
            assert (await answered(application, "/readyz"))[0] == 503
            await hub._told(News(task=failing.number))  # a fault is over, and it was tried again
            assert await answered(application, "/readyz") == (200, b'{"ready":true,"set_aside":[]}')

    asyncio.run(scene())


def test_the_metrics_say_how_far_the_learner_is_and_when_it_was_last_heard(tmp_path: Path):
    store, now = Watched(tmp_path), [1000.0]
    row, paused = created(store), created(store, id="paused")
    store.change(paused.number, "live", True)
    for one in (row, paused):
        store.publish(one.number, Publication(0, "", msgspec.msgpack.encode(Published()), b"", 0), now=0, closed=0)
    store.append([report(n) for n in range(7)])

    async def scene() -> None:
        async with Hub(store, Idle(), lambda: now[0]) as hub:
            page = hub.metrics_page().decode()
            assert "sottovoce_ready 1.0" in page
            assert 'sottovoce_behind{task="arms"} 7.0' in page
            assert 'sottovoce_open{task="arms"} 1.0' in page
            assert 'sottovoce_open{task="paused"} 0.0' in page
            assert "\nprocess_resident_memory_bytes " in page
            assert "sottovoce_learner_process" not in page  # it has no process
            await hub._told(News(task=row.number, learned=4, unread=1))
            now[0] += 90
            page = hub.metrics_page().decode()
            assert "sottovoce_learner_silent_seconds 90.0" in page
            assert 'sottovoce_behind{task="arms"} 2.0' in page
            await hub._told(News(task=0, faulty=True))
            page = hub.metrics_page().decode()
            assert "sottovoce_ready 0.0" in page
            assert "sottovoce_learner_running 1.0" in page
            assert "sottovoce_learner_leads 1.0" in page

    asyncio.run(scene())


def test_work_that_is_cancelled_in_the_moment_of_its_answer_ends(tmp_path: Path):
    """Else it would go on for ever, and the server would not stop."""

    async def scene(thread: StoreThread) -> None:
        answer = asyncio.get_running_loop().create_future()
        work = asyncio.create_task(thread._in_time(answer))
        await asyncio.sleep(0)
        answer.set_result(None)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    played(Watched(tmp_path), scene)
