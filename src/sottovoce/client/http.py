"""How a device reaches its server: one request, one answer. Nothing about the person is in a header."""

import http.client
import io
import os
import socket
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import SplitResult, urlsplit

import msgspec

from sottovoce.protocol.errors import ConfigurationError, WireError

LARGEST_ANSWER = 2**25
"""Bytes that a device reads of one answer, with its headers."""
LONGEST_ANSWER = 60.0
"""Seconds that a whole answer may take, however little of it comes at once: a megabyte at 0.14 Mbit/s."""

Headers = Mapping[str, str] | None
Kind = TypeVar("Kind")


class Response(NamedTuple):
    """What the server answered. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""


def asked(answer: Response) -> Response:
    """The answer, if it is one."""
    if answer.status != 200:
        raise WireError(f"the server answered with status {answer.status}")
    return answer


def read(answer: Response, kind: type[Kind]) -> Kind:
    """The body as this type, or `WireError`."""
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"not an answer of this protocol: {error}") from error


class Transport(Protocol):
    """Any way to the server; raises OSError when there is none now."""

    def request(self, method: str, path: str, body: bytes | None = None, headers: Headers = None) -> Response: ...


class Http:
    """HTTP with lasting connections, as many as are used at once. Redirects are not followed, cookies are not kept.

    >>> Http("learn.example")
    Traceback (most recent call last):
        ...
    sottovoce.protocol.errors.ConfigurationError: a server is an address like 'https://a.example', got 'learn.example'
    """

    def __init__(self, server: str, *, timeout: float = 10.0) -> None:
        address = _parts_of(server)
        self._kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._timeout = address.hostname or "", address.port, timeout
        self._prefix = address.path.rstrip("/")
        self._idle: list[http.client.HTTPConnection] = []
        self._process = os.getpid()
        weakref.finalize(self, _close, self._idle)

    def request(self, method: str, path: str, body: bytes | None = None, headers: Headers = None) -> Response:
        """One request; a lasting connection that the server has closed meanwhile is opened again, once."""
        if os.getpid() != self._process:  # a copy of it, which would hear the answers to the other's questions
            self._idle, self._process = [], os.getpid()
        try:
            connection, lasting = self._idle.pop(), True
        except IndexError:
            connection, lasting = self._opened(), False
        try:
            answer = self._once(connection, method, path, body, headers)
        except TimeoutError:
            raise
        except OSError:
            if not lasting:
                raise
            answer = self._once(connection, method, path, body, headers)
        self._idle.append(connection)
        return answer

    def close(self) -> None:
        """Close the connections that nobody uses; the next request opens one again."""
        _close(self._idle)

    def _opened(self) -> http.client.HTTPConnection:
        connection = self._kind(self._host, self._port, timeout=self._timeout)
        connection.response_class = _Answer
        return connection

    def _once(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None, headers: Headers
    ) -> Response:
        kind = {} if body is None else {"Content-Type": "application/json"}
        if connection.sock is not None:
            connection.sock.settimeout(self._timeout)
        try:
            connection.request(method, self._prefix + path, body, {**kind, **(headers or {})})
            answer = connection.getresponse()
            content = answer.read(LARGEST_ANSWER)
            if answer.length:
                raise ConnectionError("the answer ended before it was complete")
        except (http.client.HTTPException, ValueError) as error:  # ValueError: a piece of less than no bytes
            connection.close()
            raise ConnectionError(f"not an answer: {type(error).__name__}") from error
        except OSError:
            connection.close()
            raise
        return Response(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)


def _parts_of(server: str) -> SplitResult:
    """Scheme, host, port and path; nothing else would reach the server."""
    with suppress(ValueError):  # a port that is no number, half a bracket
        address = urlsplit(server)
        reachable = address.scheme in ("http", "https") and address.hostname and address.port != 0
        if reachable and not (address.username or address.query or address.fragment):
            return address
    shown = server.rpartition("@")[2]  # no password
    raise ConfigurationError(f"a server is an address like 'https://a.example', got {shown!r}")


class _Answer(http.client.HTTPResponse):
    """An answer that must be whole in time: the timeout of a socket holds for each piece alone.

    And it must be short, however it announces its length: `http.client` reads a piece of -1 bytes to its end.
    """

    def __init__(self, sock: socket.socket, *arguments: Any, **named: Any) -> None:
        super().__init__(sock, *arguments, **named)
        self.fp.close()
        self.fp = io.BufferedReader(_Limited(sock))


class _Limited(io.RawIOBase):
    """What a socket says until it has taken too long, or was too much."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket, self._file = sock, sock.makefile("rb", buffering=0)
        self._wait, self._end = sock.gettimeout() or LONGEST_ANSWER, time.monotonic() + LONGEST_ANSWER
        self._room = LARGEST_ANSWER

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer takes too long")
        self._socket.settimeout(min(left, self._wait))
        found = self._file.readinto(buffer)
        self._room -= found or 0
        if self._room < 0:
            raise ConnectionError("the answer is too long")
        return found

    def close(self) -> None:
        self._file.close()
        super().close()


def _close(connections: list[http.client.HTTPConnection]) -> None:
    for connection in connections:
        connection.close()
