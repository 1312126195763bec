"""Who may do what, how much, and what happens to reports that are not honest."""

import concurrent.futures
import contextlib
import gzip
import hashlib
import json
import socket
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from serving import ARMS, MODEL, TOKEN, Caller, Held, Server, committing, model_report, new_nonces, ticket_report
from sottovoce.admin.remote import Remote
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.contract import DAY
from sottovoce.protocol.errors import Refused
from sottovoce.protocol.permits import commitment_of
from sottovoce.protocol.wire import LARGEST_BATCH, LARGEST_BODY, LARGEST_OFFERS
from sottovoce.server.web.balance import Balance

ADMIN = [
    ("GET", "/v1/tasks"),
    ("POST", "/v1/tasks"),
    ("POST", "/v1/tasks/arms/pause"),
    ("POST", "/v1/tasks/arms/resume"),
    ("POST", "/v1/tasks/arms/promote"),
    ("POST", "/v1/tasks/arms/rollback"),
    ("GET", "/v1/tasks/arms/snapshots"),
    ("POST", "/v1/tasks/arms/batches"),
    ("POST", "/v1/tasks/arms/prediction"),
    ("POST", "/v1/tasks/arms/warm"),
    ("GET", "/v1/tasks/arms/overview"),
    ("GET", "/v1/tasks/arms/snapshots"),
    ("GET", "/v1/overview"),
    ("POST", "/v1/check"),
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
    for path in (offers, "/v1/tasks/model/permits"):
        for commitments in ([], ["A" * 43] * (LARGEST_OFFERS + 1), ["A" * 42], ["A" * 42 + "="], ["Ä" * 43], [1], 1):
            problem(server.call("POST", path, {"commitments": commitments}), 400, "bad-request")
    assert len(server.tickets("arms", LARGEST_OFFERS)) == len(server.permits("model", LARGEST_OFFERS)) == LARGEST_OFFERS
    one = {"ticket": "x", "nonce": "x", "gate": 0, "payload": "AA"}
    assert server.report("arms", *[one] * LARGEST_BATCH) == ["bad-permit"] * LARGEST_BATCH
    for batch in ([], [one] * (LARGEST_BATCH + 1)):
        problem(server.call("POST", reports, {"reports": batch}), 400, "bad-request")
    full = json.dumps({"reports": [one]}).encode().ljust(LARGEST_BODY)
    assert server.call("POST", reports, full).status == 200
    problem(server.call("POST", reports, full + b" "), 413, "too-large")
    with contextlib.suppress(ConnectionError):  # answered before all of it was sent
        problem(server.call("POST", reports, full * 20), 413, "too-large")
    assert server.call("POST", reports, full).status == 200


def test_what_is_wrong_with_a_body_is_said_in_words(live):
    asked = json.dumps({"commitments": ["A" * 43]}).encode()
    path, zipped = "/v1/tasks/arms/offers", {"content-encoding": "gzip"}
    answer = live.server.call("POST", path, gzip.compress(asked), headers=zipped)
    assert "without content-encoding" in problem(answer, 415, "unsupported-type")["detail"]
    answer = live.server.call("POST", path, {"commitments": ["=" * 43]})
    assert problem(answer, 400, "bad-request")["detail"] == "a commitment must be base64url without padding"


def test_without_a_token_nobody_manages_tasks(tmp_path: Path):
    server = Server(tmp_path, token="").start()
    try:
        for method, path in ADMIN:
            for headers in ({}, {"authorization": "Bearer "}, {"authorization": f"Bearer {TOKEN}"}):
                asked = b"{}" if method == "POST" else None  # a server need not read what comes with a GET
                problem(server.call(method, path, asked, headers=headers), 403, "forbidden")
    finally:
        server.close()


def test_what_is_not_there_and_what_is_not_possible(live):
    server = live.server
    problem(server.call("GET", "/v1/nothing"), 404, "not-found")
    for path in ("", "/model", "/summary"):
        problem(server.call("GET", f"/v1/tasks/nobody{path}"), 404, "not-found")
    for path in ("/offers", "/permits", "/reports"):
        problem(server.call("POST", f"/v1/tasks/nobody{path}", {}), 404, "not-found")
    problem(server.call("DELETE", "/v1/tasks/arms"), 405, "method-not-allowed")
    problem(server.call("GET", "/v1/tasks/arms/model"), 409, "wrong-kind")
    asked = committing(new_nonces(1))
    problem(server.call("POST", "/v1/tasks/model/offers", asked), 409, "wrong-kind")
    problem(server.call("POST", "/v1/tasks/arms/permits", asked), 409, "wrong-kind")
    problem(
        server.call("POST", "/v1/tasks/arms/offers", b"x=1", headers={"content-type": "text/plain"}),
        415,
        "unsupported-type",
    )
    for kind in ("", "application/x-www-form-urlencoded", "multipart/form-data; boundary=application/json"):
        headers = {"content-type": kind}
        answer = server.call("POST", "/v1/tasks/arms/offers", msgspec.json.encode(asked), headers=headers)
        problem(answer, 415, "unsupported-type")
    problem(server.call("POST", "/v1/tasks/arms/offers", asked | {"who": "me"}), 400, "bad-request")
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
    (nonce,) = nonces = new_nonces(1)
    asked = msgspec.msgpack.encode(committing(nonces))
    answer = live.server.call("POST", "/v1/tasks/arms/offers", asked, headers=packed)
    assert answer.headers["content-type"] == "application/msgpack"
    ticket = Held(msgspec.msgpack.decode(answer.body)["offers"][0]["ticket"], nonce)
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
    mine, another = server.tickets("arms", 2)
    good, signed = ticket_report(live.arms, mine), from_text(mine.permit)
    (foreign,) = server.tickets("other", 1)
    levels = live.arms.gates[0].numbers["levels"]
    return {
        "bad-permit": [
            *(good | {"ticket": altered(mine.permit, place)} for place in (0, 4, 5, 12, len(signed) - 1)),
            *(good | {"ticket": text} for text in ("", "?", "AAAA", mine.permit + "=", to_text(signed[:-1]))),
            *(good | {"ticket": one.permit} for one in (another, foreign)),
            good | {"ticket": foreign.permit, "nonce": foreign.nonce},
            good | {"ticket": server.permits("model", 1)[0].permit},
            *bad_nonces(good, another.nonce),
        ],
        "bad-gate": [good | {"gate": gate} for gate in (-1, len(live.arms.gates), 2**40)],
        "bad-payload": [
            *(good | {"payload": text} for text in ("", "AAA", "AAAA", "A", "?", "ÄÄ", "AB")),
            *(good | {"payload": to_text(bytes([level]))} for level in (levels, 255)),
        ],
        "accepted": [good],
        "duplicate": [good, good | {"gate": 1, "payload": to_text(b"\0")}],  # every gate has a level 0
    }


def bad_nonces(report: dict[str, Any], another: str) -> list[dict[str, Any]]:
    """The same report with a nonce that its permit was not asked for with."""
    mine = from_text(report["nonce"])
    wrong = [another, "", "?", *map(to_text, (mine[:-1], mine + b"\0", bytes(12), commitment_of(mine)))]
    return [report | {"nonce": nonce} for nonce in [*wrong, altered(report["nonce"], 11)]]


def bad_model_reports(live) -> dict[str, list[dict[str, Any]]]:
    server, version = live.server, live.server.version("model")
    server.create(MODEL | {"id": "other-model"})
    mine, another = server.permits("model", 2)
    (foreign,) = server.permits("other-model", 1)
    good = model_report(live.model, mine, version)
    candidates = int(live.model.gates[0].numbers["candidates"])
    payload = from_text(good["payload"])
    return {
        "bad-permit": [
            *(good | {"permit": altered(mine.permit, place)} for place in (0, 4, 5, -1)),
            *(good | {"permit": text} for text in ("", "?", mine.permit[:-4], mine.permit + "AAAA", another.permit)),
            good | foreign._asdict(),
            good | {"permit": server.tickets("arms", 1)[0].permit},
            *bad_nonces(good, another.nonce),
        ],
        "unknown-version": [good | {"version": v} for v in ("", "00" * 16, good["version"].upper() + " ", "ß")],
        "bad-gate": [good | {"gate": -1}, good | {"gate": len(live.model.gates)}],
        "bad-payload": [
            good | {"payload": to_text(wrong)}
            for wrong in (b"", payload + b"\0", b"\0" + payload, bytes([candidates]), b"\xff", mine.coin[:12] + payload)
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


def test_a_client_that_throws_tickets_away_is_counted_until_it_reports_again(live):
    server = live.server
    contract = server.create(ARMS | {"id": "choosy"})
    tickets = [ticket for _ in range(6) for ticket in server.tickets("choosy", LARGEST_OFFERS)]
    assert server.summary("choosy")["discarding"] == 1
    assert 'sottovoce_discarding{task="choosy"} 1.0' in server.call("GET", "/metrics").body.decode()
    server.report("choosy", *(ticket_report(contract, ticket) for ticket in tickets[:100]))
    assert server.summary("choosy")["discarding"] == 0
    assert server.summary("arms")["discarding"] == 0


def test_a_clock_that_is_set_back_by_years_counts_on():
    clock = iter([56 * 365 * DAY, 0, 0])
    balance = Balance("arms", clock=lambda: next(clock))
    balance.given("a", 400)
    balance.given("a", 400)
    assert balance.discarding == 1
    balance.sent("a", 800)
    assert balance.discarding == 0


def test_one_strange_field_refuses_the_whole_batch_and_keeps_nothing(live):
    server = live.server
    good, strange = (ticket_report(live.arms, ticket) for ticket in server.tickets("arms", 2))
    answer = server.call("POST", "/v1/tasks/arms/reports", {"reports": [good, strange | {"person": "me"}]})
    problem(answer, 400, "bad-request")
    answer = server.call("POST", "/v1/tasks/arms/reports", {"reports": server.model_reports(live.model, 1)})
    problem(answer, 400, "bad-request")
    assert server.report("arms", good) == ["accepted"]


def test_a_paused_task_hears_nothing_until_it_is_resumed(live):
    server = live.server
    paused = server.create(ARMS | {"id": "paused"})
    report = ticket_report(paused, server.tickets("paused", 1)[0])
    assert server.admin("POST", "/v1/tasks/paused/pause").json()["state"] == "paused"
    problem(server.call("POST", "/v1/tasks/paused/offers", committing(new_nonces(1))), 409, "task-paused")
    assert server.report("paused", report) == ["task-paused"]
    assert server.summary("paused")["refused"] == {"task-paused": 1}
    assert server.admin("POST", "/v1/tasks/paused/resume").json()["state"] == "open"
    assert server.report("paused", report) == ["accepted"]


def test_an_admin_token_does_not_follow_a_redirect_to_another_server():
    elsewhere: list[bytes] = []

    def answer(server: socket.socket, said: bytes, heard: list[bytes]) -> None:
        with contextlib.suppress(OSError):
            connection, _ = server.accept()
            with connection:
                heard.append(connection.recv(4096))
                connection.sendall(said)

    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        address = f"http://127.0.0.1:{second.getsockname()[1]}/"
        moved = f"HTTP/1.1 302 Found\r\nlocation: {address}\r\ncontent-length: 0\r\n\r\n".encode()
        second.settimeout(0.5)
        threads = [
            threading.Thread(target=answer, args=(first, moved, [])),
            threading.Thread(target=answer, args=(second, b"HTTP/1.1 200 OK\r\n\r\n", elsewhere)),
        ]
        for thread in threads:
            thread.start()
        with pytest.raises(Refused, match="302"):
            list(Remote(f"http://127.0.0.1:{first.getsockname()[1]}", TOKEN).export("arms"))
        for thread in threads:
            thread.join()
    assert elsewhere == []
