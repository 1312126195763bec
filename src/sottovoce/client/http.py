"""How a device reaches its server: one request, one answer. Nothing about the person is in a header."""

import http.client
import threading
import weakref
from collections.abc import Mapping
from typing import NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec

from sottovoce.protocol.errors import ConfigurationError, WireError

LARGEST_ANSWER = 2**25
"""Bytes that a device reads of one answer."""


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
    """HTTP with one lasting connection per thread. Redirects are not followed, cookies are not kept.

    >>> Http("learn.example")
    Traceback (most recent call last):
        ...
    sottovoce.protocol.errors.ConfigurationError: a server is an address like 'https://a.example', got 'learn.example'
    """

    def __init__(self, server: str, *, timeout: float = 10.0) -> None:
        address = urlsplit(server)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ConfigurationError(f"a server is an address like 'https://a.example', got {server!r}")
        kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        self._open = lambda: kind(address.hostname or "", address.port, timeout=timeout)
        self._prefix = address.path.rstrip("/")
        self._local = threading.local()
        self._connections: list[http.client.HTTPConnection] = []
        weakref.finalize(self, _close, self._connections)

    def request(self, method: str, path: str, body: bytes | None = None, headers: Headers = None) -> Response:
        """One request; a lasting connection that the server has closed meanwhile is opened again, once."""
        lasting: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if lasting is None:
            lasting = self._local.connection = self._open()
            self._connections.append(lasting)
            return self._once(lasting, method, path, body, headers)
        try:
            return self._once(lasting, method, path, body, headers)
        except TimeoutError:
            raise
        except OSError:
            return self._once(lasting, method, path, body, headers)

    def close(self) -> None:
        """Close the connections of all threads; the next request opens one again."""
        _close(self._connections)

    def _once(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None, headers: Headers
    ) -> Response:
        kind = {} if body is None else {"Content-Type": "application/json"}
        try:
            connection.request(method, self._prefix + path, body, {**kind, **(headers or {})})
            answer = connection.getresponse()
            content = answer.read(LARGEST_ANSWER + 1)
            if len(content) > LARGEST_ANSWER:
                raise ConnectionError("the answer is too long")
        except http.client.HTTPException as error:
            connection.close()
            raise ConnectionError(f"not an answer: {type(error).__name__}") from error
        except OSError:
            connection.close()
            raise
        return Response(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)


def _close(connections: list[http.client.HTTPConnection]) -> None:
    for connection in connections:
        connection.close()
