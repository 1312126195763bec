"""The real transport against a small HTTP server."""

import os
import socket
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pretend import PERSON, Server, contextual

from sottovoce.client import Device, Http, http
from sottovoce.protocol.errors import ConfigurationError


@contextmanager
def served(pretended: Server, *, lasting: bool = True):
    """The pretended server behind a port; what it saw of each request's headers, and its connections."""
    seen: list[set[str]] = []
    connections: list[object] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self):
            super().setup()
            connections.append(self.client_address)

        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append({name.lower() for name in self.headers})
            answer = pretended.request(self.command, self.path, body, self.headers)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name.title(), value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)
            self.close_connection = not lasting  # without saying so: what proxies do

        do_POST = do_GET

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen, connections
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("lasting", [True, False])
def test_a_device_speaks_http(lasting):
    pretended = Server(contextual())
    with served(pretended, lasting=lasting) as (address, seen, connections):
        mine = Device(address + "/", "headline")
        mine.prefetch(3)
        for _ in range(3):
            mine.observe(mine.choose(PERSON).id, 1.0)
        mine.prefetch(0)  # the permits that are used up stay so
        assert mine.send(force=True).acknowledged == 3
        mine.send(mine._clock() + 61)
        asked = [path.rsplit("/", 1)[1] for _, path in pretended.requests]
        assert asked == ["contract", *["permits"] * 3, "headline", "model", *["reports"] * 3, "headline"]
        assert (len(connections) == 1) is lasting
        mine._network._transport.close()
    ours = {"host", "accept-encoding", "content-type", "content-length"}
    assert set().union(*seen) == ours


def test_no_server_is_an_os_error_and_so_is_nonsense():
    with socket.create_server(("127.0.0.1", 0)) as nonsense:
        transport = Http(f"http://127.0.0.1:{nonsense.getsockname()[1]}", timeout=5)

        def answer():
            connection, _ = nonsense.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"220 smtp.example ready\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(ConnectionError, match="not an answer"):
            transport.request("GET", "/healthz")
        thread.join()
    with pytest.raises(OSError, match="refused"):
        transport.request("GET", "/healthz")


def test_a_slow_server_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as slow:
        transport = Http(f"http://127.0.0.1:{slow.getsockname()[1]}", timeout=0.05)
        with pytest.raises(TimeoutError):
            transport.request("GET", "/healthz")


@pytest.mark.parametrize(
    "server",
    ["http://a:99999", "http://a:b", "http://[::1", "http://me:secret@a", "https://a/?b=1", "ftp://a", "http:///a"],
)
def test_an_address_that_no_request_could_follow_is_refused(server: str):
    with pytest.raises(ConfigurationError, match=r"a server is an address like 'https://a\.example'"):
        Http(server)


def test_threads_that_come_and_go_share_one_connection():
    with served(Server(contextual())) as (address, _, connections):
        transport = Http(address)
        for _ in range(20):
            thread = threading.Thread(target=transport.request, args=("GET", "/v1/tasks/headline"))
            thread.start()
            thread.join()
        assert len(connections) == 1
        transport.close()


def test_a_forked_process_has_connections_of_its_own(monkeypatch: pytest.MonkeyPatch):
    """On the same one each would hear answers to the other's questions."""
    with served(Server(contextual())) as (address, _, connections):
        transport = Http(address)
        first = [transport.request("GET", "/v1/tasks/headline").body for _ in range(2)]
        before, kept = len(connections), transport._idle
        monkeypatch.setattr(os, "getpid", lambda: 0)
        assert transport.request("GET", "/v1/tasks/headline").body == first[0]
        assert (before, len(connections), len(kept)) == (1, 2, 1)
        transport.close()
        kept[0].close()


@pytest.mark.parametrize("said", [b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n", b"HTTP/1.1 200 OK\r\nx-name: "])
def test_an_answer_that_comes_byte_by_byte_is_given_up(said: bytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http, "LONGEST_ANSWER", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as slow:
        transport = Http(f"http://127.0.0.1:{slow.getsockname()[1]}", timeout=5)

        def answer():
            connection, _ = slow.accept()
            with connection, suppress(OSError):
                connection.sendall(said)
                for _ in range(100):
                    time.sleep(0.02)
                    connection.sendall(b" ")

        thread = threading.Thread(target=answer)
        thread.start()
        start = time.monotonic()
        with pytest.raises(TimeoutError):
            transport.request("GET", "/healthz")
        assert time.monotonic() - start < 1.0
        thread.join()


@contextmanager
def answering(*said: bytes):
    """The address of a server that says this on its one connection, whatever is asked."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.recv(1000)
                for piece in said:
                    connection.sendall(piece)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join()


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", "too long"),
        (CHUNKED, "too long"),
        (CHUNKED + b"-1\r\n", "too long"),
        (CHUNKED + b"0\r\n", "too long"),
        (CHUNKED + b"-5\r\n", "not an answer: ValueError"),
    ],
)
def test_an_endless_answer_is_given_up_before_it_fills_the_memory(
    said: bytes, complaint: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(http, "LARGEST_ANSWER", 2**16)
    with answering(said, *[b"1\r\nx\r\n" * 1000] * 1000) as address, pytest.raises(ConnectionError, match=complaint):
        Http(address).request("GET", "/healthz")


def test_an_answer_that_ends_too_early_is_none():
    """Else a contract that was cut off would look like another contract."""
    said = b'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{"half": '
    with answering(said) as address, pytest.raises(ConnectionError, match="ended before it was complete"):
        Http(address).request("GET", "/healthz")
