"""Who may do what, how much, and what happens to reports that are not honest."""

import concurrent.futures
import contextlib
import datetime
import hashlib
import json
import secrets
from pathlib import Path
from typing import Any

import msgspec
import pytest

from serving import ARMS, MODEL, TOKEN, Caller, Server, model_report, row, ticket_report
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.wire import LARGEST_BATCH, LARGEST_BODY, LARGEST_OFFERS, ModelReport, TicketReport
from sottovoce.server.store.base import PooledOffer, Publication, Published, open_seconds
from sottovoce.server.web.task import LiveTask

ADMIN = [
    ("GET", "/v1/tasks"),
    ("POST", "/v1/tasks"),
    ("POST", "/v1/tasks/arms/pause"),
    ("POST", "/v1/tasks/arms/resume"),
    ("POST", "/v1/tasks/arms/promote"),
    ("POST", "/v1/tasks/arms/warm"),
    ("GET", "/v1/tasks/arms/admission-key"),
    ("GET", "/v1/tasks/arms/export"),
    ("GET", "/v1/tasks/nobody/export"),
]


def problem(answer: Any, status: int, name: str) -> dict[str, Any]:
    assert answer.status == status, answer
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["type"] == f"urn:sottovoce:problem:{name}"
    assert document["status"] == status
    return document


# --- routes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), ADMIN)
def test_an_admin_route_needs_the_token(live, method: str, path: str):
    wrong = [
        "",
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        "Bearer \xff",
        TOKEN,
    ]
    for given in wrong:
        headers = {"authorization": given} if given else {}
        answer = live.server.call(method, path, {} if method == "POST" else None, headers=headers)
        problem(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert TOKEN.encode() not in answer.body
    log = live.server.log.read_text()
    assert TOKEN not in log
    assert "authorization" not in log.lower()


def test_tokens_are_never_logged_even_when_they_are_right(live):
    assert live.server.admin("GET", "/v1/tasks").status == 200
    assert live.server.admin("POST", "/v1/tasks/arms/promote").status == 200
    assert TOKEN not in live.server.log.read_text()


def test_limits_of_size(live):
    server, offers, reports = live.server, "/v1/tasks/arms/offers", "/v1/tasks/arms/reports"
    for count in (0, -1, LARGEST_OFFERS + 1, 10**30):
        problem(server.call("POST", offers, {"count": count}), 400, "bad-request")
    assert len(server.tickets("arms", LARGEST_OFFERS)) == LARGEST_OFFERS
    one = {"ticket": "x", "gate": 0, "payload": "AA"}
    assert server.report("arms", *[one] * LARGEST_BATCH) == ["bad-ticket"] * LARGEST_BATCH
    for batch in ([], [one] * (LARGEST_BATCH + 1)):
        problem(server.call("POST", reports, {"reports": batch}), 400, "bad-request")
    full = json.dumps({"reports": [one]}).encode().ljust(LARGEST_BODY)
    assert server.call("POST", reports, full).status == 200
    problem(server.call("POST", reports, full + b" "), 413, "too-large")
    with contextlib.suppress(ConnectionError):  # answered before all of it was sent
        problem(server.call("POST", reports, full * 20), 413, "too-large")
    assert server.call("POST", reports, full).status == 200


def test_without_a_token_nobody_manages_tasks(tmp_path: Path):
    server = Server(tmp_path, token="").start()
    try:
        for method, path in ADMIN:
            for headers in ({}, {"authorization": "Bearer "}, {"authorization": f"Bearer {TOKEN}"}):
                problem(server.call(method, path, b"{}", headers=headers), 403, "forbidden")
    finally:
        server.close()


def test_what_is_not_there_and_what_is_not_possible(live):
    server = live.server
    problem(server.call("GET", "/v1/nothing"), 404, "not-found")
    for path in ("", "/model", "/summary"):
        problem(server.call("GET", f"/v1/tasks/nobody{path}"), 404, "not-found")
    for path in ("/offers", "/reports"):
        problem(server.call("POST", f"/v1/tasks/nobody{path}", {}), 404, "not-found")
    problem(server.call("DELETE", "/v1/tasks/arms"), 405, "method-not-allowed")
    problem(server.call("GET", "/v1/tasks/arms/model"), 409, "wrong-kind")
    problem(server.call("POST", "/v1/tasks/model/offers", {"count": 1}), 409, "wrong-kind")
    problem(
        server.call("POST", "/v1/tasks/arms/offers", b"x=1", headers={"content-type": "text/plain"}),
        415,
        "unsupported-type",
    )
    for kind in ("", "application/x-www-form-urlencoded", "multipart/form-data; boundary=application/json"):
        answer = server.call("POST", "/v1/tasks/arms/offers", b'{"count": 1}', headers={"content-type": kind})
        problem(answer, 415, "unsupported-type")
    problem(server.call("POST", "/v1/tasks/arms/offers", {"count": 1, "who": "me"}), 400, "bad-request")
    problem(server.admin("POST", "/v1/tasks", ARMS | {"horizon": 999}), 409, "contract-differs")
    problem(server.admin("POST", "/v1/tasks", ARMS | {"id": "new", "learner": "oful"}), 422, "bad-task")
    problem(server.admin("POST", "/v1/tasks", ARMS | {"id": "new", "delay": "²d"}), 422, "bad-task")
    problem(server.admin("POST", "/v1/tasks", ARMS | {"id": "new", "retention": "9" * 400 + "d"}), 422, "bad-task")


def test_the_same_task_sent_twice_at_once_is_created_once(live):
    file = ARMS | {"id": "twice"}
    callers = [Caller(live.server.port) for _ in range(4)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda call: call("POST", "/v1/tasks", file, token=TOKEN).status, callers))
    for caller in callers:
        caller.close()
    assert sorted(answers) == [200, 200, 200, 201]


@pytest.mark.parametrize("what", ["model", "contract"])
def test_a_model_and_a_contract_are_cached_by_their_content(live, what: str):
    first = live.server.call("GET", f"/v1/tasks/model/{what}")
    status = live.server.call("GET", "/v1/tasks/model").json()
    name = hashlib.sha256(first.body).hexdigest()
    assert (name if what == "contract" else name[:32]) == status["digest" if what == "contract" else "version"]
    assert first.headers["etag"].strip('"') in name
    assert "max-age" in first.headers["cache-control"]
    again = live.server.call("GET", f"/v1/tasks/model/{what}", headers={"if-none-match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


def test_messagepack_is_answered_in_messagepack(live):
    packed = {"content-type": "application/msgpack"}
    answer = live.server.call("POST", "/v1/tasks/arms/offers", msgspec.msgpack.encode({"count": 1}), headers=packed)
    assert answer.headers["content-type"] == "application/msgpack"
    ticket = msgspec.msgpack.decode(answer.body)["offers"][0]["ticket"]
    body = msgspec.msgpack.encode({"reports": [ticket_report(live.arms, ticket)]})
    answer = live.server.call("POST", "/v1/tasks/arms/reports", body, headers=packed)
    assert msgspec.msgpack.decode(answer.body) == {"verdicts": ["accepted"]}


# --- verdicts --------------------------------------------------------------------------------------------------------


def altered(text: str, place: int) -> str:
    """The same with one bit of one byte turned."""
    payload = bytearray(from_text(text))
    payload[place] ^= 1
    return to_text(bytes(payload))


def bad_ticket_reports(live) -> dict[str, list[dict[str, Any]]]:
    server = live.server
    server.create(ARMS | {"id": "other"})
    good = ticket_report(live.arms, server.tickets("arms", 1)[0])
    signed = from_text(good["ticket"])
    (foreign,) = server.tickets("other", 1)
    levels = live.arms.gates[0].numbers["levels"]
    return {
        "bad-ticket": [
            *(good | {"ticket": altered(good["ticket"], place)} for place in (0, 17, 24, len(signed) - 1)),
            *(
                good | {"ticket": text}
                for text in ("", "?", "AAAA", good["ticket"] + "=", to_text(signed[:-1]), foreign)
            ),
        ],
        "bad-gate": [good | {"gate": gate} for gate in (-1, len(live.arms.gates), 2**40)],
        "bad-payload": [
            *(good | {"payload": text} for text in ("", "AAA", "AAAA", "A", "?", "ÄÄ", "AB")),
            *(good | {"payload": to_text(bytes([level]))} for level in (levels, 255)),
        ],
        "accepted": [good],
        "duplicate": [good, good | {"gate": 1, "payload": to_text(b"\0")}],  # every gate has a level 0
    }


def bad_model_reports(live) -> dict[str, list[dict[str, Any]]]:
    good = model_report(live.model, live.server.version("model"))
    candidates = int(live.model.gates[0].numbers["candidates"])
    payload = from_text(good["payload"])
    return {
        "bad-id": [good | {"id": id} for id in ("", "AA", to_text(bytes(15)), to_text(bytes(17)), "?" * 22)],
        "unknown-version": [good | {"version": v} for v in ("", "00" * 16, good["version"].upper() + " ", "ß")],
        "bad-gate": [good | {"gate": -1}, good | {"gate": len(live.model.gates)}],
        "bad-payload": [
            good | {"payload": to_text(wrong)}
            for wrong in (b"", payload[:-1], payload + b"\0", payload[:-2] + candidates.to_bytes(2, "big"))
        ],
        "accepted": [good],
        "duplicate": [good, good],
    }  # fmt: skip


@pytest.mark.parametrize(("task", "cases"), [("arms", bad_ticket_reports), ("model", bad_model_reports)])
def test_every_refusal_has_its_verdict_and_is_counted(live, task: str, cases: Any):
    server, prepared = live.server, cases(live)
    refused, reports = server.summary(task)["refused"], server.summary(task)["reports"]
    batch = [report for same in prepared.values() for report in same]
    expected = [verdict for verdict, same in prepared.items() for _ in same]
    assert server.report(task, *batch) == expected
    after = server.summary(task)
    assert after["reports"] == reports + 1
    for verdict, same in prepared.items():
        if verdict not in ("accepted", "duplicate"):
            assert after["refused"][verdict] == refused.get(verdict, 0) + len(same)
            line = f'sottovoce_reports_total{{task="{task}",verdict="{verdict}"}} {after["refused"][verdict]}.0'
            assert line in server.call("GET", "/metrics").body.decode()


def test_one_strange_field_refuses_the_whole_batch_and_keeps_nothing(live):
    server = live.server
    good, strange = (ticket_report(live.arms, ticket) for ticket in server.tickets("arms", 2))
    answer = server.call("POST", "/v1/tasks/arms/reports", {"reports": [good, strange | {"person": "me"}]})
    problem(answer, 400, "bad-request")
    answer = server.call("POST", "/v1/tasks/arms/reports", {"reports": [model_report(live.model, "00" * 16)]})
    problem(answer, 400, "bad-request")
    assert server.report("arms", good) == ["accepted"]


def test_a_paused_task_hears_nothing_until_it_is_resumed(live):
    server = live.server
    paused = server.create(ARMS | {"id": "paused"})
    report = ticket_report(paused, server.tickets("paused", 1)[0])
    assert server.admin("POST", "/v1/tasks/paused/pause").json()["state"] == "paused"
    problem(server.call("POST", "/v1/tasks/paused/offers", {"count": 1}), 409, "task-paused")
    assert server.report("paused", report) == ["task-paused"]
    assert server.summary("paused")["refused"] == {"task-paused": 1}
    assert server.admin("POST", "/v1/tasks/paused/resume").json()["state"] == "open"
    assert server.report("paused", report) == ["accepted"]


# --- by the clock, without a server ----------------------------------------------------------------------------------


def ticketed(**numbers: Any) -> LiveTask:
    """A task with tickets as the web process holds it, one offer in its pool."""
    task = LiveTask(row(**numbers), b"key")
    pool = Published(offers=[PooledOffer(1, bytes(7) + b"\1")])
    task.take([Publication(0, "", msgspec.msgpack.encode(pool), b"", 0)], 1_700_000_000.0)
    return task


def verdict(task: LiveTask, report: dict[str, Any], now: float) -> Any:
    (judged,) = task.judge([TicketReport(**report) if "ticket" in report else ModelReport(**report)], now)
    return judged if isinstance(judged, str) else "accepted"


def test_a_ticket_expires():
    task, now = ticketed(), 1_700_000_000.0
    (offer,) = task.offers(1, now).offers
    report = ticket_report(task.contract, offer.ticket)
    assert offer.expires == now + open_seconds(task.contract)
    assert verdict(task, report, offer.expires) == "accepted"
    assert verdict(task, report, offer.expires + 1) == "expired-ticket"


def test_a_task_expires_at_the_end_of_its_day():
    task = ticketed(expires="2026-01-31")
    end = datetime.datetime(2026, 2, 1, tzinfo=datetime.UTC).timestamp()
    (offer,) = task.offers(1, end - 1).offers
    report = ticket_report(task.contract, offer.ticket)
    assert verdict(task, report, end - 1) == "accepted"
    assert verdict(task, report, end) == "task-expired"


def test_a_task_that_is_done_takes_no_more_reports():
    task, now = ticketed(), 1_700_000_000.0
    (offer,) = task.offers(1, now).offers
    done = Published(done=True, recommendation=2)
    task.take([Publication(10, "", msgspec.msgpack.encode(done), b"", 0)], now)
    assert verdict(task, ticket_report(task.contract, offer.ticket), now) == "task-done"
    assert task.offers(5, now).offers == []
    assert task.offers(5, now).recommendation == 2


def test_a_version_is_understood_for_a_while_after_the_next_one():
    task, now = LiveTask(row(**MODEL), b"key"), 1_700_000_000
    body = msgspec.msgpack.encode(Published(model=b"{}"))
    old, new = secrets.token_hex(16), secrets.token_hex(16)
    task.take([Publication(0, old, body, b"", 0)], now - 10)
    task.take([Publication(25, new, body, b"", 0)], now)
    grace = open_seconds(task.contract)
    for version, moment, expected in [
        (old, now + grace, "accepted"),
        (old, now + grace + 1, "unknown-version"),
        (new, now + 10 * grace, "accepted"),
        ("", now, "unknown-version"),
    ]:
        assert verdict(task, model_report(task.contract, version), moment) == expected


def test_a_status_says_that_its_task_is_closed_once_it_expires():
    task = LiveTask(row(**MODEL | {"expires": "2026-01-31"}), b"key")
    end = datetime.datetime(2026, 2, 1, tzinfo=datetime.UTC).timestamp()
    assert task.status(end).version == ""
    version = secrets.token_hex(16)
    task.take([Publication(0, version, msgspec.msgpack.encode(Published(model=b"{}")), b"", 0)], end - 1)
    assert [task.status(now).state for now in (end - 1, end)] == ["open", "expired"]
    assert task.status(end).version == version
