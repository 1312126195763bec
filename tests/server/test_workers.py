"""Several web processes of one command: each answers, what ends is started again, and all end with their parent."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from postgres import Postgres
from serving import ARMS, Caller, Server, children_of, lives, ticket_report, until
from sottovoce.server import workers
from test_cli import refused

COUNT = 2


@pytest.fixture
def server(tmp_path: Path, postgres: Postgres) -> Iterator[Server]:
    with contextlib.closing(Server(tmp_path, store=postgres.new(), workers=COUNT)) as server:
        yield server.start()


def family(pid: int) -> list[int]:
    """All processes below this one."""
    return [one for child in children_of(pid) for one in (child, *family(child))]


def answers(caller: Caller, path: str) -> bool:
    try:
        return caller("GET", path).status == 200
    except OSError:
        return False


def listening(server: Server) -> list[int]:
    """The web processes: those with a learner below them."""
    return [child for child in children_of(server.pid) if [*children_of(child)]]


def test_every_process_takes_reports_and_one_that_is_killed_comes_back(server: Server):
    callers = [Caller(server.port + number) for number in range(COUNT)]
    until(lambda: all(answers(caller, "/readyz") for caller in callers))
    contract = server.create(ARMS)
    until(lambda: all(answers(caller, "/v1/tasks/arms/summary") for caller in callers))
    sent = [ticket_report(contract, ticket) for ticket in server.tickets("arms", 4)]
    verdicts = [caller("POST", "/v1/tasks/arms/reports", {"reports": sent}).json()["verdicts"] for caller in callers]
    assert verdicts == [["accepted"] * 4, ["duplicate"] * 4]
    before = listening(server)
    assert len(before) == COUNT
    os.kill(before[0], signal.SIGKILL)
    until(lambda: not lives(before[0]))
    until(lambda: all(answers(caller, "/readyz") for caller in callers))
    assert before[1] in listening(server)
    for caller in callers:
        caller.close()
    everybody = family(server.pid)
    assert server.stop() == 0
    until(lambda: not any(map(lives, everybody)))
    log = server.log.read_text()
    assert log.count('"event":"stopped"') == COUNT
    assert '"event":"a web process ended; starting it again"' in log
    assert "Traceback" not in log


def test_web_processes_end_when_their_parent_is_killed(server: Server):
    until(lambda: len(listening(server)) == COUNT)
    everybody = family(server.pid)
    server.kill()
    until(lambda: not any(map(lives, everybody)))
    assert server.log.read_text().count('"event":"stopped"') == COUNT


def test_a_folder_of_sqlite_is_refused_with_the_store_to_use(tmp_path: Path):
    said = " ".join(refused("serve", "--workers", "2", "--data", str(tmp_path / "data")).split())
    assert "--store postgresql://" in said
    assert "store copy" in said
    assert not (tmp_path / "data").exists()


def test_each_process_allows_its_part_of_the_rate(postgres: Postgres, monkeypatch: pytest.MonkeyPatch):
    given = []
    monkeypatch.setattr(workers, "supervise", lambda works: given.extend(options for _, options in works))
    workers.serve_workers(postgres.new(), [7001, 7002, 7003, 7004], 100.0, host="127.0.0.1")
    assert [(one["port"], one["rate"]) for one in given] == [(7001, 25.0), (7002, 25.0), (7003, 25.0), (7004, 25.0)]
