"""Bodies in and out: JSON or MessagePack in, the same language out."""

import asyncio
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive

from sottovoce.protocol.wire import LARGEST_BODY
from sottovoce.server.problems import Problem

JSON, MESSAGEPACK, PROBLEM = "application/json", "application/msgpack", "application/problem+json"
NOT_KEPT = {"cache-control": "no-store"}
SAID = [(b"cache-control", b"no-store"), (b"content-type", JSON.encode())]
BODY_SECONDS = 10
"""For a whole body, from when its header was read: 512 KiB take that long at 0.4 Mbit/s."""
MOST_PIECES = LARGEST_BODY // 256
"""A network's packets are larger. Each costs 20 microseconds, so byte by byte one body would keep a core busy."""

T = TypeVar("T")


async def read(receive: Receive) -> bytes:
    """The body, read before anything is decided: a connection with an unread rest could not be used again."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await collected(receive)
    except TimeoutError:
        raise too_slow() from None


async def collected(receive: Receive, length: int = -1) -> bytes:
    """A body; it ends after so many bytes where its length is known."""
    content = bytearray()
    for _ in range(MOST_PIECES):
        if not await _more(receive, content) or len(content) == length:
            return bytes(content)
    raise Problem("bad-request", f"a request's body comes in at most {MOST_PIECES:,} pieces")


def too_slow() -> Problem:
    return Problem("too-slow", f"a request's body must arrive within {BODY_SECONDS} s")


async def _more(receive: Receive, content: bytearray) -> bool:
    """Add the next piece; is there another?"""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise Problem("bad-request", "the body ended before it was complete")
    content += message.get("body", b"")
    if len(content) > LARGEST_BODY:
        raise Problem("too-large", f"a request has at most {LARGEST_BODY:,} bytes")
    return message.get("more_body", False)


def body(request: Request, type: type[T]) -> T:
    """The request's body as this type, or a problem that says what is wrong.

    A type must be declared: a page of another origin cannot send these types unless its browser asks here first.
    """
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Problem("unsupported-type", "send the body without content-encoding: it is not unpacked here")
    kind = request.scope["kind"] = _kind(request)
    if kind not in (JSON, MESSAGEPACK):
        raise Problem("unsupported-type", f"content-type must be {JSON} or {MESSAGEPACK}")
    return decoded(request.scope["content"], kind, type)


def decoded(content: bytes, kind: str, type: type[T]) -> T:
    """The content as this type, or a problem that says what is wrong."""
    decode = msgspec.json.decode if kind == JSON else msgspec.msgpack.decode
    try:
        return decode(content, type=type)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Problem("bad-request", f"the body is not valid: {error}") from error


def answer(request: Request, value: Any) -> Response:
    """In the language of the request, whose `body` was read."""
    packed = request.scope["kind"] == MESSAGEPACK
    encode = msgspec.msgpack.encode if packed else msgspec.json.encode
    return Response(encode(value), headers=NOT_KEPT, media_type=MESSAGEPACK if packed else JSON)


class Said(Response):
    """JSON that no cache keeps, as `answer` makes it, in fewer steps."""

    def __init__(self, value: Any) -> None:
        self.status_code, self.background, self.body = 200, None, msgspec.json.encode(value)
        self.raw_headers = [*SAID, (b"content-length", b"%d" % len(self.body))]


def json(value: Any, *, status: int = 200, cache: int = 0) -> Response:
    """JSON, which may be kept for so many seconds."""
    return Response(msgspec.json.encode(value), status, _fresh_for(cache) if cache else NOT_KEPT, JSON)


def cached(request: Request, body: bytes, name: str, seconds: int) -> Response:
    """Bytes that are served as they are, under the name of their content; nothing where the client has them."""
    headers = {"etag": f'"{name}"'} | _fresh_for(seconds)
    if f'"{name}"' in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type=JSON)


def problem(problem: Problem) -> Response:
    return Response(msgspec.json.encode(problem.document), problem.document.status, problem.headers, PROBLEM)


def _fresh_for(seconds: int) -> dict[str, str]:
    return {"cache-control": f"public, max-age={seconds}"}


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()
