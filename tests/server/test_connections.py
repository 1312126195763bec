"""Connections that want nothing, and requests that never end: they stop nobody, and do not last."""

import asyncio
import contextlib
import os
import resource
import shlex
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from serving import ARMS, Server, children_of
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.protocol.wire import LARGEST_OFFERS
from sottovoce.server.connections import room
from sottovoce.server.problems import Problem
from sottovoce.server.web.messages import collected

HEAD = b"POST /v1/tasks/arms/offers HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
ASKED = b'{"commitments":["' + b"A" * 43 + b'"]}'
BODY = HEAD + b"Content-Length: 100\r\n\r\n" + ASKED
"""Valid JSON, but more was announced."""
REPORT = BODY.replace(b"/offers", b"/reports")
SHARE = 60
HURRIED = f"""
from sottovoce.server import connections
from sottovoce.server.web import messages
connections.HEADER_SECONDS = connections.UNREAD_SECONDS = 1
messages.BODY_SECONDS, connections.COUNT_SECONDS, connections.LARGEST_SHARE = 2, 0.2, {SHARE}
from sottovoce.cli import main
main()
"""


class Hurried(Server):
    """The same server with short deadlines, and few connections for one address."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._command[1:3] = ["-c", HURRIED]


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Hurried(tmp_path_factory.mktemp("served")).start().ready()
    server.create(ARMS)
    yield server
    server.close()


def connect(server: Server, said: bytes = b"", address: str = "127.0.0.3") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), 10.0, (address, 0))
    connection.sendall(said)
    return connection


def heard(connection: socket.socket) -> bytes:
    """All that comes until the server closes."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            found += piece
    connection.close()
    return found


def crowd(server: Server, *, each: int, addresses: int) -> list[socket.socket]:
    """Idle connections, unfinished headers and unfinished bodies in equal parts."""
    return [
        connect(server, said, f"127.0.0.{10 + number % addresses}")
        for said in (b"", HEAD, BODY)
        for number in range(each)
    ]


def test_a_crowd_that_wants_nothing_stops_nobody_and_does_not_hold_up_the_end(tmp_path: Path):
    server = Server(tmp_path).start().ready()
    try:
        server.create(ARMS)
        held = crowd(server, each=200, addresses=10)
        slowest = 0.0
        for _ in range(20):
            start = time.perf_counter()
            assert heard(connect(server, b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
            slowest = max(slowest, time.perf_counter() - start)
        assert slowest < 0.5  # far above the usual, far below any deadline
        assert len(server.tickets("arms", LARGEST_OFFERS)) == LARGEST_OFFERS
        start = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - start < 10
        for connection in held:
            connection.close()
    finally:
        server.close()


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b"", b""),
        (HEAD, b""),
        (BODY, b"HTTP/1.1 408"),
        (REPORT, b"HTTP/1.1 408"),
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 200"),
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", b"HTTP/1.1 200"),
    ],
    ids=["idle", "header", "body", "report", "kept", "body-of-a-get"],
)
def test_a_connection_that_waits_too_long_is_closed(hurried: Server, said: bytes, answer: bytes):
    start = time.monotonic()
    found = heard(connect(hurried, said))
    assert found.startswith(answer)
    assert bool(found) == bool(answer)
    assert time.monotonic() - start < 5


def test_a_client_that_reads_no_answer_is_cut_off(hurried: Server):
    """Far more answers than the buffers of both sides hold."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", hurried.port))
    connection.settimeout(10.0)
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        ask_without_end(connection)
    connection.close()


def ask_without_end(connection: socket.socket) -> None:
    while True:
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n" * 100)


def test_too_few_open_files_are_refused_before_anybody_is_served(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (64, 64))
    with pytest.raises(ConfigurationError, match="may have 64 files open, and a server needs 320; raise the limit"):
        room()


def test_a_server_whose_standard_files_are_closed_opens_nothing_in_their_place(tmp_path: Path):
    """Else its learner would inherit a lock or a connection under their numbers, and write its log there."""
    server = Server(tmp_path / "data")
    said = shlex.join(server._command)
    server._command = ["sh", "-c", f"exec {said} <&- >&- 2>&-"]
    server.start().ready()
    try:
        for pid in (server.pid, *children_of(server.pid)):
            files = [os.readlink(f"/proc/{pid}/fd/{number}") for number in range(3)]
            assert not [file for file in files if str(tmp_path) in file], files
        assert os.readlink(f"/proc/{server.pid}/fd/2") == os.devnull
        assert server.stop() == 0
    finally:
        server.close()


def test_one_address_cannot_have_all_connections(hurried: Server):
    """Those that are cut off hear nothing; the others are told, in the end, that they are too slow."""
    other = connect(hurried, BODY, "127.0.0.4")
    found = [heard(connection) for connection in [connect(hurried, BODY, "127.0.0.5") for _ in range(3 * SHARE)]]
    assert found.count(b"") == 2 * SHARE
    assert heard(other).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("sent", [BODY, REPORT, HEAD + b"Transfer-Encoding: chunked\r\n\r\n3f\r\n" + ASKED + b"\r\n"])
def test_a_body_that_ends_too_early_is_refused(hurried: Server, sent: bytes):
    connection = connect(hurried, sent)
    connection.shutdown(socket.SHUT_WR)
    found = heard(connection)
    assert found.startswith(b"HTTP/1.1 400")
    assert b"the body ended before it was complete" in found
    whole = connect(hurried, HEAD + b"Connection: close\r\nContent-Length: 63\r\n\r\n" + ASKED)
    assert heard(whole).startswith(b"HTTP/1.1 200")


def test_a_body_of_very_many_pieces_is_refused_before_it_keeps_a_core_busy(hurried: Server):
    """One request in pieces of a byte took nine seconds of processor time; a slow network's pieces are larger."""
    said = HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 1_000
    assert heard(connect(hurried, said + b"3f\r\n" + ASKED + b"\r\n0\r\n\r\n")).startswith(b"HTTP/1.1 200")

    async def without_end() -> dict[str, object]:
        return {"type": "http.request", "body": b" ", "more_body": True}

    with pytest.raises(Problem, match="at most 2,048 pieces"):
        asyncio.run(collected(without_end))
