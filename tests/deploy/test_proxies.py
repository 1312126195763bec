"""The proxies of deploy/ say who asks, wait longer than the server does, and write down nothing about people."""

import contextlib
import http.server
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from proxying import PROXY, caddy, nginx

from manual import ROOT, blocks
from serving import free_port, until
from sottovoce.protocol.wire import LARGEST_BODY
from sottovoce.server.addresses import client_of
from sottovoce.server.connections import HEADER_SECONDS
from sottovoce.server.web.hub import PREPARING_SECONDS
from sottovoce.server.web.messages import BODY_SECONDS

CADDY, NGINX = (PROXY / name for name in ("Caddyfile", "nginx.conf"))
CLIENT = "127.0.0.2"


class Upstream:
    """A server that remembers what it was asked."""

    def __init__(self) -> None:
        self.headers: list[Any] = []
        upstream = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if self.path != "/readyz":
                    upstream.headers.append(self.headers)
                self.rfile.read(int(self.headers.get("content-length", 0)))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            do_POST = do_GET

            def log_message(self, *ignored: Any) -> None: ...

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return self.server.server_address[1]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    found = Upstream()
    yield found
    found.close()


@pytest.fixture(params=[caddy, nginx], ids=lambda start: start.__name__)
def start(request: pytest.FixtureRequest) -> Any:
    if shutil.which(request.param.__name__) is None:
        pytest.skip(f"{request.param.__name__} is not on PATH; what its file says is tested without it")
    return request.param


def asked(proxy: Any, path: str, body: bytes | None = None, **headers: str) -> int:
    with contextlib.closing(proxy.connection(CLIENT)) as connection:
        connection.request("GET" if body is None else "POST", path, body, headers)
        return connection.getresponse().status


def test_whoever_asks_is_told_and_cannot_be_made_up_and_nothing_is_written_down(
    start: Any, upstream: Upstream, tmp_path: Path
):
    """Also where no server answers: that is when proxies like to say for whom."""
    with start(tmp_path, [upstream.port]) as proxy:
        until(lambda: asked(proxy, "/v1/tasks/headline", **{"X-Forwarded-For": "203.0.113.9"}) == 200, seconds=20)
        seen = upstream.headers[-1]["X-Forwarded-For"]
        assert client_of("127.0.0.1", seen, 1) == CLIENT
        assert asked(proxy, "/v1/tasks/headline/reports", b"x" * LARGEST_BODY) == 200
        assert asked(proxy, "/v1/tasks/headline/reports", b"x" * (4 * LARGEST_BODY)) in (413, 502)
        assert asked(proxy, "/metrics") == 404
        written = proxy.log.read_text()
    (tmp_path / "gone").mkdir()
    with start(tmp_path / "gone", [free_port()]) as proxy:
        assert asked(proxy, "/v1/tasks/headline") in (502, 503)
        written += proxy.log.read_text()
    for private in (CLIENT, "headline", "reports"):
        assert private not in written


def test_a_server_that_ends_is_replaced_by_the_other(start: Any, upstream: Upstream, tmp_path: Path):
    with start(tmp_path, [free_port(), upstream.port]) as proxy:
        until(lambda: asked(proxy, "/v1/tasks/headline") == 200, seconds=20)
        assert [asked(proxy, "/v1/tasks/headline") for _ in range(6)] == [200] * 6


# --- what the files say ----------------------------------------------------------------------------------------------


def seconds(name: str, text: str) -> list[int]:
    found = re.findall(rf"^\s*{name}\s+(\d+)s;?$", text, re.MULTILINE)
    assert found, name
    return [int(one) for one in found]


def test_a_proxy_waits_longer_than_the_server_and_keeps_idle_connections_for_less():
    for text, reading, answering in (
        (CADDY.read_text(), ("read_header", "read_body"), "response_header_timeout"),
        (NGINX.read_text(), ("client_header_timeout", "client_body_timeout"), "proxy_read_timeout"),
    ):
        assert all(one > max(HEADER_SECONDS, BODY_SECONDS) for name in reading for one in seconds(name, text))
        assert seconds(answering, text)[0] > PREPARING_SECONDS
    assert seconds("keepalive", CADDY.read_text())[0] < HEADER_SECONDS
    assert min(seconds("keepalive_timeout", NGINX.read_text())) < HEADER_SECONDS


def test_no_file_logs_requests():
    assert "access_log off;" in NGINX.read_text()
    assert re.findall(r"^\s*error_log .*$", NGINX.read_text(), re.MULTILINE) == ["error_log stderr emerg;"]
    assert "exclude http.log.error http.log.access http.handlers.reverse_proxy" in CADDY.read_text()


def test_the_page_shows_the_files_as_they_are():
    """Every line of a block is a line of the file, in its order."""
    shown = {"caddyfile": CADDY, "nginx": NGINX}
    found = [block for block in blocks(ROOT / "docs" / "proxies.md") if block.kind in shown]
    assert {block.kind for block in found} == {*shown}
    for block in found:
        lines = iter(line.strip() for line in shown[block.kind].read_text().splitlines())
        for line in block.text.splitlines():
            assert not line.strip() or line.strip() in lines, (block.place, line)
