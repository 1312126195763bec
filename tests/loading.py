"""People who report to a server that may be killed at any moment, and what must be true afterwards."""

import contextlib
import http.client
import os
import random
import resource
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg

from postgres import Postgres
from serving import (
    ARMS,
    MODEL,
    Caller,
    Held,
    Server,
    children_of,
    committing,
    honest,
    lives,
    model_report,
    new_nonces,
    ticket_report,
    until,
)
from sottovoce.protocol.codec import from_text
from sottovoce.protocol.contract import ByTicket, Contract
from sottovoce.protocol.permits import commitment_of, report_id
from sottovoce.server.learn.folds import Folds
from sottovoce.server.learn.replaying import replay
from sottovoce.server.store import open_store
from sottovoce.server.store.base import Journalled, Store

KEPT = ("accepted", "duplicate")
GONE = (OSError, http.client.HTTPException)
"""What a client sees of a server that was killed or is starting."""

PATIENCE = 60.0
TAKES_OVER = 5.0
"""Seconds within which another learner learns."""


class Load:
    """A thread that reports without end: singles and batches, and again until each is acknowledged.

    Each request goes to any of the servers, as if a balancer stood before them.
    """

    def __init__(self, servers: Server | Sequence[Server], contract: Contract, seed: int) -> None:
        self._contract, self._draw = contract, random.Random(seed)
        servers = [servers] if isinstance(servers, Server) else servers
        self._callers = [Caller(server.port, timeout=15.0) for server in servers]
        self._stop = threading.Event()
        self.acknowledged: list[bytes] = []
        self.retried = 0
        self.failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Stop after the batch at hand is acknowledged."""
        self._stop.set()
        self._thread.join()
        for caller in self._callers:
            caller.close()
        if self.failure:
            raise self.failure

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._deliver(self._batch(self._draw.choice((1, 1, 7, 40))))
        except BaseException as failure:
            self.failure = failure

    def _batch(self, size: int) -> list[dict[str, Any]]:
        task, nonces = f"/v1/tasks/{self._contract.id}", new_nonces(size)
        if isinstance(self._contract.offers, ByTicket):
            offers = self._patiently("POST", f"{task}/offers", committing(nonces))["offers"]
            held = [Held(offer["ticket"], nonce) for offer, nonce in zip(offers, nonces, strict=True)]
            return [ticket_report(self._contract, ticket) for ticket in held]
        permits = self._patiently("POST", f"{task}/permits", committing(nonces))["permits"]
        held = [Held(one["permit"], nonce) for one, nonce in zip(permits, nonces, strict=True)]
        version = self._patiently("GET", task)["version"]
        return [model_report(self._contract, permit, version) for permit in held]

    def _deliver(self, reports: list[dict[str, Any]]) -> None:
        verdicts = self._patiently("POST", f"/v1/tasks/{self._contract.id}/reports", {"reports": reports})["verdicts"]
        assert all(verdict in KEPT for verdict in verdicts), verdicts
        self.acknowledged += [id_of(report) for report in reports]

    def _patiently(self, method: str, path: str, body: Any = None) -> Any:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with contextlib.suppress(*GONE):
                answer = self._draw.choice(self._callers)(method, path, body)
                if answer.status == 200:
                    return answer.json()
                assert answer.status == 503, answer
                assert int(answer.headers["retry-after"]) > 0
            self.retried += 1
            time.sleep(0.02)
        raise TimeoutError(f"no answer to {method} {path} for {PATIENCE:g} s")


def waits(pid: int, seconds: float = 0.8) -> bool:
    """Has this process begun long ago, and hardly anything to do now? So it is with a learner that can be elected."""
    first, start = _processor_seconds(pid), time.monotonic()
    sleeps = []
    while time.monotonic() < start + seconds:
        sleeps.append(_stat(pid)[0] == "S")
        time.sleep(seconds / 10)
    return first > 0.5 and _processor_seconds(pid) - first < 0.2 * seconds and sum(sleeps) > 0.7 * len(sleeps)


def _processor_seconds(pid: int) -> float:
    return sum(map(int, _stat(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """What the system says of a process, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def id_of(report: dict[str, Any]) -> bytes:
    return report_id(commitment_of(from_text(report["nonce"])))


def kill_under_load(folder: Path, kills: int, longest: float) -> tuple[int, int]:
    """Kill the server that many times while people report; how many reports were acknowledged, and retries needed."""
    server, draw = Server(folder).start(), random.Random(20201115)
    loads: list[Load] = []
    try:
        contracts = [server.create(ARMS), server.create(MODEL)]
        early = [ticket_report(contracts[0], ticket) for ticket in server.tickets("arms", 5)]
        loads = [Load(server, contract, seed) for seed, contract in enumerate(contracts)]
        children: list[int] = []
        for _ in range(kills):
            time.sleep(draw.uniform(0.05, longest))
            children += server.kill()
            server.start()
        for load in loads:
            load.finish()
        assert server.report("arms", *early) == ["accepted"] * len(early)  # tickets from before the first kill
        until(lambda: not any(lives(child) for child in children))
        states = {task: server.caught_up(task) for task in ("arms", "model")}
        assert server.stop() == 0
        acknowledged = [id for load in loads for id in load.acknowledged] + [id_of(report) for report in early]
        check_journal(folder, acknowledged)
        check_replay(folder, states)
        assert "Traceback" not in server.log.read_text()
        return len(acknowledged), sum(load.retried for load in loads)
    finally:
        server.close()


NEWER = """
from sottovoce.server.store.migrations import Migration
from sottovoce.server.store.postgres import schema

schema.MIGRATIONS += (Migration(99, 7, "A table for notes.", ("CREATE TABLE notes (body text NOT NULL)",)),)
"""
"""What Python runs first in every process of a version that adds something to the database."""


def newer_version(folder: Path) -> dict[str, str]:
    """The variables with which a command is one of that version, and its learner too."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(NEWER)
    return {"PYTHONPATH": os.pathsep.join(map(str, [folder, *sys.path]))}


EPOCH = "SELECT epoch FROM leader"


class Cluster:
    """Two servers on one PostgreSQL, people who report to either, and what can happen to them."""

    def __init__(self, folder: Path) -> None:
        self.postgres = Postgres().start()
        self.address = self.postgres.new()
        self.servers = [Server(folder / name, store=self.address) for name in ("first", "second")]
        self.loads: list[Load] = []
        try:
            for server in self.servers:
                server.start().ready()
            self.contracts = [self.servers[0].create(ARMS), self.servers[0].create(MODEL)]
            until(lambda: all(self._knows(server) for server in self.servers))
            self.loads = [Load(self.servers, contract, seed) for seed, contract in enumerate(self.contracts)]
        except BaseException:
            self.close()
            raise

    def _knows(self, server: Server) -> bool:
        return all(server.call("GET", f"/v1/tasks/{one.id}/summary").status == 200 for one in self.contracts)

    def leader(self) -> Server:
        """The server whose learner learns."""

        def leads(server: Server) -> bool:
            with contextlib.suppress(*GONE):
                return b"sottovoce_learner_leads 1.0" in server.call("GET", "/metrics").body
            return False

        until(lambda: any(leads(server) for server in self.servers))
        return next(server for server in self.servers if leads(server))

    def learned(self) -> int:
        """Of all tasks, as the newest of the servers says."""
        known = 0
        for server in self.servers:
            with contextlib.suppress(*GONE, KeyError):
                known = max(known, sum(server.summary(one.id)["learned"] for one in self.contracts))
        return known

    def kill_web(self) -> float:
        """The server whose learner learns, and start it again; seconds until another learner learned."""
        server = self.leader()
        pause = self._replaced(lambda: server.stop(signal.SIGKILL))
        server.start()
        return pause

    def kill_learner(self) -> float:
        """The one that learns; seconds until another one learned."""
        (child,) = children_of(self.leader().pid)
        return self._replaced(lambda: os.kill(child, signal.SIGKILL))

    def kill_postgres(self) -> float:
        """And start it again; seconds until something was learned."""
        start = time.monotonic()
        self.postgres.stop(signal.SIGKILL)
        self.postgres.start()
        return self._goes_on(start)

    def stop_learner(self, seconds: float) -> float:
        """SIGSTOP to the one that learns for at least so long; it writes nothing when it goes on, and is not elected.

        Seconds until another one learned.
        """
        old = self.leader()
        (stopped,) = children_of(old.pid)
        try:
            pause = self._replaced(lambda: os.kill(stopped, signal.SIGSTOP))
            time.sleep(seconds)
        except BaseException:
            os.kill(stopped, signal.SIGCONT)
            raise
        with psycopg.connect(self.address, autocommit=True) as database:
            epoch = database.execute(EPOCH).fetchone()
            os.kill(stopped, signal.SIGCONT)
            before, seen = self.learned(), self._offered(database)
            while self.learned() <= before + 50:
                now = self._offered(database)
                assert all(now[task] >= learned for task, learned in seen.items()), "something stale was published"
                seen = now
            assert database.execute(EPOCH).fetchone() == epoch
        until(lambda: b"sottovoce_learner_leads 0.0" in old.call("GET", "/metrics").body)
        return pause

    def _replaced(self, happens: Callable[[], object]) -> float:
        """Seconds from this until another learner was elected and has learned something; one waits to be elected."""
        until(lambda: any(waits(child) for server in self.servers for child in children_of(server.pid)))
        with psycopg.connect(self.address, autocommit=True) as database:
            epoch, start = database.execute(EPOCH).fetchone(), time.monotonic()
            happens()
            until(lambda: database.execute(EPOCH).fetchone() != epoch, pause=0.01)
        return self._goes_on(start)

    def _goes_on(self, start: float) -> float:
        before = self.learned()
        until(lambda: self.learned() > before, pause=0.01)
        return time.monotonic() - start

    def _offered(self, database: psycopg.Connection) -> dict[int, int]:
        """After how many reports that was learned which each task offers from.

        A learner that has just been elected may publish once more what was published since the last snapshot.
        """
        served = "SELECT task, max(learned) FROM publications WHERE superseded = 0 GROUP BY task"
        newest = dict(database.execute(served).fetchall())
        assert len(newest) == len(self.contracts)
        return newest

    def replace(self, environment: Mapping[str, str]) -> None:
        """One server after the other ends in order and is started with these variables, as in an upgrade."""
        for server in self.servers:
            assert server.stop() == 0
            server.become(environment)
            server.start().ready()
            before = self.learned()
            until(lambda: self.learned() > before)  # noqa: B023

    def check(self, besides: Sequence[dict[str, Any]] = ()) -> tuple[int, int]:
        """Nothing lost, nothing double, replay as learned; how many reports, and how often somebody came again.

        Those `besides` were accepted too.
        """
        for load in self.loads:
            load.finish()
        acknowledged = [id for load in self.loads for id in load.acknowledged] + [id_of(report) for report in besides]
        first = self.servers[0]  # what the other one has taken it counts a little later
        until(lambda: sum(first.summary(one.id)["reports"] for one in self.contracts) == len(acknowledged))
        states = {one.id: first.caught_up(one.id) for one in self.contracts}
        for server in self.servers:
            assert server.stop() == 0
            assert '"event":"route failed"' not in server.log.read_text()
        check_journal(self.address, acknowledged)
        check_replay(self.address, states)
        return len(acknowledged), self.retried

    @property
    def retried(self) -> int:
        """How often somebody came again until now."""
        return sum(load.retried for load in self.loads)

    def close(self) -> None:
        for server in self.servers:
            server.close()
        self.postgres.close()


@contextlib.contextmanager
def full_disk(server: Server) -> Iterator[None]:
    """As long as it lasts, the server and its learner cannot write to a file beyond its first pages."""
    for pid in (server.pid, *children_of(server.pid)):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (2**14, resource.RLIM_INFINITY))
    yield
    for pid in (server.pid, *children_of(server.pid)):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def fill_under_load(folder: Path, rounds: int, seconds: float) -> tuple[int, int]:
    """Fill the disk that many times while people report; how many reports were acknowledged, and retries needed."""
    server = Server(folder).start()
    loads: list[Load] = []
    try:
        contracts = [server.create(ARMS), server.create(MODEL)]
        loads = [Load(server, contract, seed) for seed, contract in enumerate(contracts)]
        for _ in range(rounds):
            time.sleep(0.5)
            with full_disk(server):
                time.sleep(seconds)
                refused = server.call("GET", "/readyz")
                assert (refused.status, "store" in refused.json()["detail"]) == (503, True)
                before = {task: server.summary(task)["learned"] for task in ("arms", "model")}
            until(lambda: all(server.summary(task)["learned"] > before[task] for task in before), seconds=5)  # noqa: B023
            until(lambda: server.call("GET", "/readyz").status == 200, seconds=5)
        for load in loads:
            load.finish()
        states = {task: server.caught_up(task) for task in ("arms", "model")}
        assert server.stop() == 0
        acknowledged = [id for load in loads for id in load.acknowledged]
        check_journal(folder, acknowledged)
        check_replay(folder, states)
        assert "Traceback" not in server.log.read_text()
        assert '"event":"route failed"' not in server.log.read_text()
        return len(acknowledged), sum(load.retried for load in loads)
    finally:
        server.close()


def check_journal(address: Path | str, acknowledged: list[bytes]) -> None:
    """Every acknowledged report is there, once, and nothing else is."""
    with contextlib.closing(open_store(address)) as store:
        found = [entry.report.id for row in store.tasks() for entry in store.entries_of(row.number, 0)]
    if isinstance(address, Path):
        with contextlib.closing(sqlite3.connect(address / "journal.sqlite")) as journal:
            assert journal.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len(found) == len(set(found))
    assert len(acknowledged) == len(set(acknowledged))
    assert set(found) == set(acknowledged)


def check_replay(address: Path | str, states: dict[str, dict[str, Any]]) -> None:
    """The journal alone gives the state that the server had."""
    store = open_store(address)
    for row in store.tasks():
        summary = states[row.contract.id]
        assert summary["reports"] == summary["learned"] == len(list(store.entries_of(row.number, 0)))
        assert replay(store, row) == summary["state"]
    store.close()


def more(store: Store, numbers: range) -> str:
    """Report to the first task without a server; the state after these reports too."""
    row = store.tasks()[0]
    store.append([
        Journalled(row.number, n.to_bytes(16, "big"), 0, 0, 2 * (n % 3).to_bytes(8, "big"), bytes([n % 2]))
        for n in numbers
    ])  # fmt: skip
    learning = Folds(store)
    while learning.catch_up() or learning.behind:
        pass
    learning.finish()
    assert len(honest(row.contract)) == 1  # so what was kept above is a report of this task
    return learning._news(row.number).state
