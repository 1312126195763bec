"""What a task holds to by the clock: permits, tickets, versions and its last day."""

import datetime
import secrets
from typing import Any

import msgspec
import pytest

from serving import MODEL, Held, committing, model_report, new_nonces, row, ticket_report
from sottovoce.protocol.contract import DAY
from sottovoce.protocol.wire import ModelReport, TicketReport
from sottovoce.server.problems import Problem
from sottovoce.server.store.base import PooledOffer, Publication, Published, open_seconds, permit_seconds
from sottovoce.server.web.retention import oldest_kept
from sottovoce.server.web.task import LiveTask

NOW = 1_700_000_000


def ticketed(**numbers: Any) -> LiveTask:
    """A task with tickets as the web process holds it, one offer in its pool."""
    task = LiveTask(row(**numbers), b"key")
    pool = Published(offers=[PooledOffer(1, bytes(7) + b"\1")])
    task.take([Publication(0, "", msgspec.msgpack.encode(pool), b"", 0)], NOW)
    return task


def modelled(version: str = "ab" * 16, now: float = NOW, **numbers: Any) -> LiveTask:
    """A task with a model, which has published one."""
    task = LiveTask(row(**MODEL | numbers), b"key")
    task.take([publication(version)], now)
    return task


def publication(version: str, learned: int = 0) -> Publication:
    return Publication(learned, version, msgspec.msgpack.encode(Published(model=b"{}")), b"", 0)


def ticket_of(task: LiveTask, now: float = NOW) -> Held:
    (nonce,) = nonces = new_nonces(1)
    return Held(task.offers(**committing(nonces), now=now).offers[0].ticket, nonce)


def permit_of(task: LiveTask, now: float = NOW) -> Held:
    (nonce,) = nonces = new_nonces(1)
    return Held(task.permits(**committing(nonces), now=now).permits[0].permit, nonce)


def verdict(task: LiveTask, report: dict[str, Any], now: float = NOW) -> Any:
    (judged,) = task.judge([TicketReport(**report) if "ticket" in report else ModelReport(**report)], now)
    return judged if isinstance(judged, str) else "accepted"


def test_a_ticket_expires_when_no_honest_report_can_come_any_more():
    task = ticketed()
    report, expires = ticket_report(task.contract, ticket_of(task)), NOW + open_seconds(task.contract)
    assert task.offers(**committing(new_nonces(1)), now=NOW).offers[0].expires == expires
    assert [verdict(task, report, now) for now in (expires, expires + 1)] == ["accepted", "expired-permit"]


def test_a_permit_can_be_fetched_a_week_before_it_is_used():
    task = modelled()
    report = model_report(task.contract, permit_of(task), task.version)
    expires = NOW + 7 * DAY + open_seconds(task.contract)
    assert expires == NOW + permit_seconds(task.contract)
    assert task.permits(**committing(new_nonces(1)), now=NOW).permits[0].expires == expires
    assert [verdict(task, report, now) for now in (expires, expires + 1)] == ["accepted", "expired-permit"]


def test_a_permit_ends_before_its_report_is_forgotten():
    """Or else the same report could be counted again."""
    for retention in ("1s", "2d", "30d"):
        contract = row(**MODEL | {"retention": retention}).contract
        assert oldest_kept(contract, NOW + permit_seconds(contract)) <= NOW // DAY


def test_a_permit_that_is_not_open_is_not_issued():
    task = modelled(expires="2026-01-31")
    end = datetime.datetime(2026, 2, 1, tzinfo=datetime.UTC).timestamp()
    assert permit_of(task, end - 1)
    with pytest.raises(Problem, match="takes no reports now"):
        permit_of(task, end)
    task.row = task.row._replace(paused=True)
    with pytest.raises(Problem, match="takes no reports now") as caught:
        permit_of(task)
    assert caught.value.document.type.endswith("task-paused")


def test_a_task_expires_at_the_end_of_its_day():
    task = ticketed(expires="2026-01-31")
    end = datetime.datetime(2026, 2, 1, tzinfo=datetime.UTC).timestamp()
    report = ticket_report(task.contract, ticket_of(task, end - 1))
    assert verdict(task, report, end - 1) == "accepted"
    assert verdict(task, report, end) == "task-expired"


def test_a_task_that_is_done_takes_no_more_reports():
    task = ticketed()
    ticket, done = ticket_of(task), Published(done=True, recommendation=2)
    task.take([Publication(10, "", msgspec.msgpack.encode(done), b"", 0)], NOW)
    assert verdict(task, ticket_report(task.contract, ticket)) == "task-done"
    after = task.offers(**committing(new_nonces(5)), now=NOW)
    assert (after.offers, after.recommendation) == ([], 2)


def test_a_version_is_understood_for_a_while_after_the_next_one():
    old, new = secrets.token_hex(16), secrets.token_hex(16)
    task = modelled(old, NOW - 10)
    task.take([publication(new, 25)], NOW)
    grace = open_seconds(task.contract)
    for version, moment, expected in [
        (old, NOW + grace, "accepted"),
        (old, NOW + grace + 1, "unknown-version"),
        (new, NOW + 10 * grace, "accepted"),
        ("", NOW, "unknown-version"),
    ]:
        assert verdict(task, model_report(task.contract, permit_of(task, moment), version), moment) == expected


def test_a_status_says_that_its_task_is_closed_once_it_expires():
    end = datetime.datetime(2026, 2, 1, tzinfo=datetime.UTC).timestamp()
    assert LiveTask(row(**MODEL), b"key").status(end).version == ""
    version = secrets.token_hex(16)
    task = modelled(version, end - 1, expires="2026-01-31")
    assert [task.status(now).state for now in (end - 1, end)] == ["open", "expired"]
    assert task.status(end).version == version
