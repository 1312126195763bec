"""Backups of PostgreSQL as the page for operators has them: made while people report, restored, replayed."""

import contextlib
import re
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from manual import ROOT, blocks
from postgres import Postgres
from serving import ARMS, Caller, Server, ticket_report, until
from sottovoce.server.learn.replaying import replay
from sottovoce.server.store import open_store

PAGE = "docs/operations.md"


def typed(program: str) -> list[list[str]]:
    """The commands of the page that begin with this word."""
    found = [block for block in blocks(ROOT / PAGE) if block.kind == "console"]
    lines = [line.removeprefix("$ ") for block in found for line in block.text.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith(f"{program} ")]


def settings_of(name: str, postgres: Postgres) -> dict[str, str]:
    """Those of the page among which this one is, with the archive of the test."""
    (text,) = (block.text for block in blocks(ROOT / PAGE) if block.kind == "ini" and name in block.text)
    archive = str(postgres.data.parent / "archive")
    return {name: value.replace("/var/lib/archive", archive) for name, value in re.findall(r"(\w+) = (.*)", text)}


@pytest.fixture(scope="module")
def archived() -> Iterator[Postgres]:
    """A PostgreSQL that archives what it writes, as the page says, in a folder beside its data."""
    postgres = Postgres()
    archive = postgres.data.parent / "archive"
    archive.mkdir()
    postgres.own(archive)
    postgres.set(**settings_of("archive_command", postgres))
    try:
        yield postgres.start()
    finally:
        postgres.close()


class Reporting:
    """One who reports without end; how many were accepted."""

    def __init__(self, server: Server) -> None:
        self._server, self._stop, self.accepted = server, threading.Event(), 0
        contract = server.create(ARMS)
        self.reports = [ticket_report(contract, one) for _ in range(8) for one in server.tickets("arms", 100)]
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        caller = Caller(self._server.port)
        while not self._stop.is_set() and self.accepted < len(self.reports):
            answer = caller("POST", "/v1/tasks/arms/reports", {"reports": [self.reports[self.accepted]]})
            assert answer.json()["verdicts"] == ["accepted"]
            self.accepted += 1
        caller.close()

    def some_more(self) -> int:
        before = self.accepted
        until(lambda: self.accepted >= before + 30, pause=0.005)
        return self.accepted

    def finish(self) -> None:
        self._stop.set()
        self._thread.join()


def check(address: str, folder: Path, reports: list[dict[str, Any]], at_least: int, at_most: int) -> None:
    """A server on what was restored knows the first reports, no others, and its state is what the journal gives."""
    with contextlib.closing(Server(folder, store=address)) as server:
        found = server.start().ready().caught_up("arms")
        assert at_least <= found["reports"] <= at_most
        known, next_one = reports[found["reports"] - 1], reports[found["reports"]]
        assert server.report("arms", known, next_one) == ["duplicate", "accepted"]  # permits from before are honoured
        state = server.caught_up("arms")["state"]
        assert server.stop() == 0
    with contextlib.closing(open_store(address)) as store:
        assert replay(store, store.tasks()[0]) == state


def test_a_dump_made_under_load_is_restored_and_replays_to_the_same_state(archived: Postgres, tmp_path: Path):
    address, restored = archived.new(), archived.new()
    (dump,), (load,) = typed("pg_dump"), typed("pg_restore")
    with contextlib.closing(Server(tmp_path, store=address)) as server:
        reporting = Reporting(server.start().ready())
        at_least = reporting.some_more()
        file = archived.data.parent / "dump"
        archived.run(*here(dump, {"postgresql://sottovoce@db.example/sottovoce": address, "sottovoce.dump": str(file)}))
        at_most = reporting.accepted + 1
        reporting.some_more()
        reporting.finish()
        server.stop()
    archived.run(*here(load, {"postgresql://sottovoce@db.example/restored": restored, "sottovoce.dump": str(file)}))
    check(restored, tmp_path, reporting.reports, at_least, at_most)


def test_a_database_is_brought_back_to_a_moment_in_the_past(archived: Postgres, tmp_path: Path):
    """Base backup first, reports later, a mistake at the end: what came before the mistake is there."""
    address = archived.new()
    (base,) = typed("pg_basebackup")
    copy = archived.data.parent / "restored"
    with contextlib.closing(Server(tmp_path, store=address)) as server:
        reporting = Reporting(server.start().ready())
        reporting.some_more()
        archived.run(*here(base, {"postgresql://sottovoce@db.example/": archived.address("postgres"),
                                  "/var/lib/restored": str(copy)}))  # fmt: skip
        at_least = reporting.some_more()
        with psycopg.connect(address, autocommit=True) as database:
            (moment,) = database.execute("SELECT clock_timestamp()::text").fetchone() or ("",)
            at_most = reporting.accepted + 1
            reporting.some_more()
            reporting.finish()
            server.stop()
            database.execute("TRUNCATE journal, ids")  # the mistake
            database.execute("SELECT pg_switch_wal()")
    archived.stop()
    archived.data = copy
    archived.set(**settings_of("restore_command", archived) | {"recovery_target_time": f"'{moment}'"})
    (touch,) = typed("touch")
    signal = Path(here(touch, {"/var/lib/restored": str(copy)})[1])
    signal.touch()
    archived.own(signal)
    archived.start()
    with psycopg.connect(address, autocommit=True) as database:
        until(lambda: database.execute("SELECT pg_is_in_recovery()").fetchone() == (False,))
    check(address, tmp_path, reporting.reports, at_least, at_most)


def here(words: list[str], places: dict[str, str]) -> list[str]:
    """A command of the page with the places of the test."""
    for old, new in places.items():
        assert any(old in word for word in words), (words, old)
        words = [word.replace(old, new) for word in words]
    return words
