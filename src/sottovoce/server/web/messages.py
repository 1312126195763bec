"""Bodies in and out: JSON or MessagePack in, the same language out."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sottovoce.protocol.wire import LARGEST_BODY
from sottovoce.server.problems import Problem

JSON, MESSAGEPACK, PROBLEM = "application/json", "application/msgpack", "application/problem+json"

T = TypeVar("T")


async def read(request: Request) -> None:
    """The body, read before anything is decided: a connection with an unread rest could not be used again."""
    content, more = b"", True
    while more:
        message = await request.receive()
        content, more = content + message.get("body", b""), message.get("more_body", False)
        if len(content) > LARGEST_BODY:
            raise Problem("too-large", f"a request has at most {LARGEST_BODY:,} bytes")
    request.scope["content"] = content


def body(request: Request, type: type[T]) -> T:
    """The request's body as this type, or a problem that says what is wrong."""
    kind = _kind(request)
    if kind not in (JSON, MESSAGEPACK):
        raise Problem("unsupported-type", f"content-type must be {JSON} or {MESSAGEPACK}")
    decode = msgspec.json.decode if kind == JSON else msgspec.msgpack.decode
    try:
        return decode(request.scope["content"], type=type)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Problem("bad-request", f"the body is not valid: {error}") from error


class Brief:
    """An answer with a body, as short as HTTP allows; Starlette's takes twice the time, and devices hear this most."""

    def __init__(self, body: bytes, kind: str, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.status_code, self._body = status, body
        given = {"content-type": kind, "content-length": str(len(body)), "cache-control": "no-store"} | dict(
            headers or {}
        )
        self._headers = [(name.encode(), value.encode("latin-1")) for name, value in given.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self._headers})
        await send({"type": "http.response.body", "body": self._body})


Answer = Response | Brief


def answer(request: Request, value: Any) -> Brief:
    """In the language of the request."""
    packed = _kind(request) == MESSAGEPACK
    encode = msgspec.msgpack.encode if packed else msgspec.json.encode
    return Brief(encode(value), MESSAGEPACK if packed else JSON)


def json(value: Any, *, status: int = 200, cache: int = 0) -> Brief:
    """JSON, for so many seconds of caching."""
    return Brief(msgspec.json.encode(value), JSON, status, _fresh_for(cache) if cache else {})


def cached(request: Request, body: bytes, name: str, seconds: int) -> Brief:
    """Bytes that are served as they are, under the name of their content; nothing where the client has them."""
    headers = {"etag": f'"{name}"'} | _fresh_for(seconds)
    if f'"{name}"' in request.headers.get("if-none-match", ""):
        return Brief(b"", JSON, 304, headers)
    return Brief(body, JSON, 200, headers)


def problem(problem: Problem) -> Brief:
    return Brief(msgspec.json.encode(problem.document), PROBLEM, problem.document.status, problem.headers)


def _fresh_for(seconds: int) -> dict[str, str]:
    return {"cache-control": f"public, max-age={seconds}"}


def _kind(request: Request) -> str:
    for name, value in request.scope["headers"]:
        if name == b"content-type":
            return value.decode("latin-1").partition(";")[0].strip().lower()
    return JSON
