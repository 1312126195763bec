"""What a task promises about time: single reports go after their days, what was learned from them stays."""

import contextlib
import sqlite3
from pathlib import Path

from serving import ARMS, Server, ticket_report, until
from sottovoce.server.learn.replaying import replay
from sottovoce.server.store import open_store


def kept(folder: Path) -> int:
    with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as journal:
        return journal.execute("SELECT count(*) FROM journal").fetchone()[0]


def grow_old(folder: Path) -> None:
    with contextlib.closing(sqlite3.connect(folder / "journal.sqlite", isolation_level=None)) as journal:
        journal.execute("UPDATE journal SET day = day - 40")


def test_a_clock_that_ran_ahead_for_a_while_keeps_no_old_report(tmp_path: Path):
    """The first report says that it came in 40 days; the others are forgotten all the same."""
    server = Server(tmp_path / "data").start()
    try:
        contract = server.create(ARMS | {"retention": "30d"})
        server.report("arms", *(ticket_report(contract, ticket) for ticket in server.tickets("arms", 10)))
        server.caught_up("arms")
        assert server.stop() == 0
        grow_old(server.folder)
        with contextlib.closing(sqlite3.connect(server.folder / "journal.sqlite", isolation_level=None)) as journal:
            journal.execute("UPDATE journal SET day = day + 80 WHERE seq = (SELECT min(seq) FROM journal)")
        server.start()
        until(lambda: kept(server.folder) == 1)
        assert server.stop() == 0
    finally:
        server.close()


def test_old_reports_are_forgotten_by_a_server_that_starts_and_nothing_learned_is_lost(tmp_path: Path):
    server = Server(tmp_path / "data").start()
    try:
        contract = server.create(ARMS | {"retention": "30d"})
        tickets = server.tickets("arms", 35)
        server.report("arms", *(ticket_report(contract, ticket) for ticket in tickets[:30]))
        before = server.caught_up("arms")
        assert server.stop() == 0
        assert kept(server.folder) == 30
        grow_old(server.folder)
        server.start()
        until(lambda: kept(server.folder) == 0)
        after = server.caught_up("arms")
        assert (after["state"], after["reports"], after["learned"]) == (before["state"], 30, 30)
        server.report("arms", *(ticket_report(contract, ticket) for ticket in tickets[30:]))
        after = server.caught_up("arms")
        assert after["learned"] == 35
        assert kept(server.folder) == 5
        assert server.stop() == 0
        store = open_store(server.folder)
        assert replay(store, store.tasks()[0]) == after["state"] != before["state"]
        store.close()
    finally:
        server.close()
