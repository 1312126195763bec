"""Reports take a short way through the server, and are answered as on the long one."""

import asyncio
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from server.test_hub import Idle
from serving import ARMS, CLIENT, Answer, created, ticket_report
from sottovoce.protocol.wire import LARGEST_BATCH, LARGEST_BODY
from sottovoce.server.store.sqlite import SqliteStore
from sottovoce.server.tracing import Off
from sottovoce.server.web import deadline
from sottovoce.server.web.admission import Admission
from sottovoce.server.web.deadline import Deadline
from sottovoce.server.web.hub import Hub
from sottovoce.server.web.reporting import Reporting

REPORTS = "/v1/tasks/arms/reports"
LONG = {"content-type": "application/json; charset=utf-8"}
"""What no device says, and what sends a request the long way."""
SHOP = "https://shop.example"


def scope_of(path: str = REPORTS, method: str = "POST", **headers: str) -> dict[str, Any]:
    sent = {"content-type": "application/json", "content-length": "9"} | headers
    return {
        "path": path,
        "method": method,
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in sent.items()],
    }


def test_what_devices_send_goes_the_short_way_and_nothing_else(tmp_path: Path):
    store = SqliteStore(tmp_path)
    created(store, **ARMS)

    async def scene() -> None:
        async with Hub(store, Idle()) as hub:
            reporting = Reporting(hub, Admission(0.0, 0, hub.metrics.limited))
            assert reporting.plain(scope_of(x_forwarded_for="192.0.2.7", user_agent="a")) == (hub.tasks["arms"], 9)
            for other in (
                scope_of(method="PUT"),
                scope_of(path="/v1/tasks/arms/offers"),
                scope_of(path="/v1/tasks/other/reports"),
                scope_of(path="/v2/tasks/arms/reports"),
                scope_of(**{"content-type": "application/msgpack"}),
                scope_of(**{"content-encoding": "gzip"}),
                scope_of(**{"transfer-encoding": "chunked"}),
                scope_of(**{"content-length": "-1"}),
                {"path": REPORTS, "method": "POST", "headers": []},
            ):
                assert reporting.plain(other) is None, other
            hub.tasks["arms"].batch = 100  # it hears its shuffler alone
            assert reporting.plain(scope_of()) is None
        async with Hub(SqliteStore(tmp_path), Idle(), tracing=Off()) as hub:  # another than OFF: somebody traces
            assert Reporting(hub, Admission(0.0, 0, hub.metrics.limited)).plain(scope_of()) is None

    asyncio.run(scene())


def told(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    return answer.status, {name: value for name, value in answer.headers.items() if name != "date"}, answer.body


@pytest.mark.parametrize("origin", ["", SHOP, "https://evil.example"])
def test_both_ways_give_the_same_answers(live, origin: str):
    server, own = live.server, {"origin": origin} if origin else {}
    contract = server.create(ARMS | {"id": "both-ways", "origins": [SHOP]})
    same, *others = (ticket_report(contract, held) for held in server.tickets("both-ways", 3))
    server.report("both-ways", same)
    reports, ways = "/v1/tasks/both-ways/reports", (own, own | LONG)
    for body, status in (
        ({"reports": [same]}, 200),
        ({"reports": [same | {"gate": -1}, same | {"ticket": ""}]}, 200),
        ({"reports": []}, 400),
        ({"reports": [same] * LARGEST_BATCH}, 200),
        ({"reports": [same] * (LARGEST_BATCH + 1)}, 400),
        ({"reports": [same | {"person": "a"}]}, 400),
        ({"reports": [same | {"gate": "0"}]}, 400),
        (b"", 400),
        (b"{", 400),
        (b"[" * 100_000, 400),
        (b'{"reports": [{"ticket": "\xff"}]}', 400),
    ):
        short, long = (told(server.call("POST", reports, body, headers=way)) for way in ways)
        assert short == long, body
        assert short[0] == status
        assert ("access-control-allow-origin" in short[1]) == (origin == SHOP)
    before = counted(live)
    new = [
        told(server.call("POST", reports, {"reports": [one]}, headers=way))
        for one, way in zip(others, ways, strict=True)
    ]
    assert new[0] == new[1]
    assert new[0][2] == b'{"verdicts":["accepted"]}'
    assert counted(live) == before + 2


def counted(live) -> float:
    """Requests that were answered with verdicts."""
    counter = b'sottovoce_requests_total{route="/v1/tasks/{id}/reports",status="200"}'
    lines = live.server.call("GET", "/metrics").body.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(counter))


def test_a_body_that_is_too_large_is_refused(live):
    answer = live.server.call("POST", REPORTS, b" " * (LARGEST_BODY + 1))
    assert (answer.status, answer.headers["content-type"]) == (413, "application/problem+json")


def answers(connection: socket.socket, count: int) -> None:
    """Wait for so many refusals."""
    found = b""
    while found.count(b"HTTP/1.1 400") < count:
        piece = connection.recv(65536)
        assert piece, "the server closed the connection"
        found += piece


def test_a_body_may_come_in_pieces_and_the_connection_is_used_again(live):
    body = b'{"reports": []}'
    head = (
        f"POST {REPORTS} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", live.server.port), 10.0, (CLIENT, 0)) as connection:
        for piece in (head.encode(), body[:7], body[7:]):
            connection.sendall(piece)
            time.sleep(0.05)
        answers(connection, 1)
        connection.sendall((head.encode() + body) * 3)
        answers(connection, 3)


# --- one deadline for many -------------------------------------------------------------------------------------------


class Missed(Exception):
    """Of a deadline."""


def test_who_waits_too_long_is_told_and_nobody_else(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(deadline, "LOOK_SECONDS", 0.01)
    bodies = Deadline(0.1, Missed)

    async def scene() -> list[Any]:
        waits = (bodies.within(asyncio.sleep(seconds, seconds)) for seconds in (0.0, 0.05, 5.0))
        first = await asyncio.gather(*waits, return_exceptions=True)
        return [*first, await bodies.within(asyncio.sleep(0.0, 1.0))]

    start = time.monotonic()
    quick, slow, late, after = asyncio.run(scene())
    assert time.monotonic() - start < 2.0
    assert (quick, slow, after) == (0.0, 0.05, 1.0)
    assert isinstance(late, Missed)


def test_what_somebody_else_cancels_stays_cancelled():
    async def scene() -> bool:
        waiting = asyncio.ensure_future(Deadline(10.0, Missed).within(asyncio.sleep(5.0)))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        return waiting.cancelled()

    assert asyncio.run(scene())
