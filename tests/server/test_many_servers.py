"""Two servers on one PostgreSQL: whatever is killed or stopped, nothing is lost or double, and one learner learns."""

import contextlib
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from loading import TAKES_OVER, Cluster
from postgres import Postgres
from serving import committing, new_nonces, until
from sottovoce.server.store.base import Deposed, Gap, Journalled, Publication, Snapshot, Unread
from sottovoce.server.store.postgres.journal import WARY
from sottovoce.server.store.postgres.schema import APPEND
from sottovoce.server.store.postgres.store import PostgresStore


def report(number: int, day: int = 0) -> Journalled:
    return Journalled(1, number.to_bytes(16, "big"), day, 0, b"context", b"payload")


def ids(store: PostgresStore) -> list[int]:
    return [int.from_bytes(entry.report.id, "big") for entry in store.entries(0, 1000)]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with contextlib.closing(Cluster(tmp_path)) as cluster:
        yield cluster


def test_kills_of_servers_learners_and_the_database_lose_nothing(cluster: Cluster):
    """Five here, beside other tests, so one may take longer; twenty in `make soak`, where each is in time."""
    pauses = []
    for kill in (
        cluster.kill_learner,
        cluster.kill_web,
        cluster.kill_postgres,
        cluster.kill_learner,
        cluster.kill_postgres,
    ):
        time.sleep(0.3)
        pauses.append(kill())
    assert statistics.median(pauses) < TAKES_OVER, pauses
    reports, retried = cluster.check()
    assert reports > 100
    assert retried > 0


def test_a_learner_that_was_stopped_for_a_while_writes_nothing_stale(cluster: Cluster):
    """For as long as it takes to elect another one; for 30 seconds in `make soak`, where that is in time."""
    assert cluster.stop_learner(seconds=0.0) < 2 * TAKES_OVER
    cluster.check()


def test_a_database_that_does_not_answer_means_come_back_and_everything_goes_on_after_it(cluster: Cluster):
    """Stopped it takes connections and answers nothing; that is noticed too."""
    server, path = cluster.servers[0], f"/v1/tasks/{cluster.contracts[0].id}"
    assert server.call("GET", "/readyz").status == 200
    retried = cluster.retried
    with cluster.postgres.stopped():
        until(lambda: server.call("GET", "/readyz").status == 503, seconds=15)
        until(lambda: cluster.retried > retried, seconds=15)  # those who wait may all be at the other server
        assert server.call("GET", path).status == 200  # what people choose by is served all the same
        assert server.call("POST", f"{path}/offers", committing(new_nonces(1))).status == 200
    before = cluster.learned()
    until(lambda: cluster.learned() > before, seconds=20)
    until(lambda: all(server.call("GET", "/readyz").status == 200 for server in cluster.servers), seconds=20)
    cluster.check()


# --- order and election ----------------------------------------------------------------------------------------------


@pytest.fixture
def store(postgres: Postgres) -> Iterator[PostgresStore]:
    with contextlib.closing(PostgresStore(postgres.new())) as store:
        yield store


def test_servers_that_start_at_once_on_an_empty_database_make_its_tables_once(postgres: Postgres):
    for _ in range(5):
        address = postgres.new()
        with ThreadPoolExecutor(8) as threads:
            for store in threads.map(PostgresStore, [address] * 8):
                store.close()


def test_a_report_that_was_committed_late_comes_later_and_is_not_passed_over(store: PostgresStore):
    """A transaction that is held open has taken its numbers before others that end before it."""
    held = [list(column) for column in zip(report(1), report(2), strict=True)]
    with psycopg.connect(store.address) as open_one:
        open_one.execute(APPEND, (*held, 0))
        assert store.append([report(3), report(4)]) == [True, True]
        assert store.order(100) == 2
        assert ids(store) == [3, 4]
        open_one.commit()
    assert store.order(100) == 2
    assert ids(store) == [3, 4, 1, 2]
    places = [entry.seq for entry in store.entries(0, 10)]
    assert places == sorted(places)
    assert store.append([report(n) for n in range(1, 5)]) == [False] * 4


def test_what_was_rolled_back_may_come_again(store: PostgresStore):
    held = [list(column) for column in zip(report(1), strict=True)]
    with psycopg.connect(store.address) as open_one:
        open_one.execute(APPEND, (*held, 0))
        open_one.rollback()
    assert store.append([report(1)]) == [True]


def test_reports_of_one_transaction_get_their_places_together(store: PostgresStore):
    for first in (1, 11, 21):
        store.append([report(first + n) for n in range(3)])
    assert store.order(4) == 6  # two groups, for one has less
    assert store.order(1) == 3
    assert store.order(1) == 0
    assert ids(store) == [1, 2, 3, 11, 12, 13, 21, 22, 23]


def test_reports_that_were_known_are_found_among_new_ones_whatever_was_expected(store: PostgresStore):
    """After a group with one that was known the next ones are written in another way, and after many in the first."""
    kept = 0
    for start in range(0, 6 * (WARY + 2), 6):
        known = [report(start - 6)] if start % (6 * (WARY + 1)) == 6 else []
        batch = [report(start + 1), *known, report(start), report(start + 1)]
        assert store.append(batch) == [True, *[False] * len(known), True, False]
        kept += 2
    assert store.append([report(0), report(1)]) == [False, False]
    assert store.order(1000) == kept
    assert len(ids(store)) == len(set(ids(store))) == kept


def test_a_report_that_is_known_is_no_line_in_the_log_of_the_database(store: PostgresStore, postgres: Postgres):
    """There it would stand with its id and the time."""
    log = postgres.data.parent / "log"
    before = log.stat().st_size
    store.append([report(1)])
    assert store.append([report(1), report(2)]) == [False, True]
    assert "duplicate key" not in log.read_bytes()[before:].decode()


def test_the_same_reports_at_two_processes_at_once_are_kept_once(store: PostgresStore):
    reports, taken = [report(n) for n in range(200)], []
    other = store.clone()
    threads = [
        threading.Thread(target=lambda one=one, order=order: taken.append(sum(one.append(order))))
        for one, order in ((store, reports), (other, reports[::-1]), (store, reports[50:150]))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    assert sum(taken) == 200
    store.order(1000)
    assert sorted(ids(store)) == list(range(200))


def test_a_day_is_a_partition_and_is_dropped_as_a_whole(store: PostgresStore):
    for day in (5, 6, 7):
        store.append([report(10 * day + n, day) for n in range(4)])
        store.order(100)
    assert store._days(100) == [5, 6, 7]
    assert store.forget(1, day=7, after=0, seq=store.last(), most=1) == (0, 4)  # the day, however few were asked for
    assert store._days(100) == [6, 7]
    assert store.forget(1, day=7, after=0, seq=store.last(), most=1) == (0, 4)
    assert store.forget(1, day=7, after=0, seq=store.last(), most=4) == (store.last(), 0)
    assert ids(store) == [70, 71, 72, 73]


@pytest.mark.parametrize("write", [
    lambda store: store.order(10),
    lambda store: store.publish(1, Publication(1, "v", b"body", b"", 0), 0, 0),
    lambda store: store.save(1, Snapshot(1, 1, 0, b"state")),
    lambda store: store.roll_back(1, Gap(1, 2, 1), Snapshot(1, 1, 0, b""), Publication(1, "v", b"", b"", 0), 0, 0),
    lambda store: store.leave_out(1, [Unread(1, "KeyError")]),
    lambda store: store.tell([(1, b"news")], "somewhere"),
])  # fmt: skip
def test_whoever_is_not_elected_any_more_writes_nothing(store: PostgresStore, write: Callable[[PostgresStore], None]):
    store.append([report(1)])
    with psycopg.connect(store.address, autocommit=True) as database:
        database.execute("UPDATE leader SET epoch = 7")
        store.epoch = 6
        with pytest.raises(Deposed):
            write(store)
        for table in ("journal", "publications", "snapshots", "gaps", "unread", "news"):
            count = database.execute(f"SELECT count(*) FROM {table}")  # pyright: ignore[reportArgumentType, reportCallIssue]
            assert count.fetchone() == (0,)
    store.epoch = 7
    write(store)
