"""The routes: thin, strict, and the same for every task. What they stand on is `hub`; how they fail is `problems`."""

import functools
import hashlib
import hmac
import logging
import math
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sottovoce.catalogue.task_file import TaskFile
from sottovoce.protocol.codec import to_text
from sottovoce.protocol.wire import (
    LARGEST_BATCH,
    LARGEST_BODY,
    LARGEST_OFFERS,
    ModelReports,
    OffersRequest,
    TicketReports,
    Verdicts,
    WarmRows,
)
from sottovoce.server.hub import Hub
from sottovoce.server.logs import log
from sottovoce.server.web.limits import RateLimit
from sottovoce.server.web.openapi import document
from sottovoce.server.web.problems import Problem

REPORTS = re.compile(r"/v1/tasks/(?P<id>[^/]+)/reports")
Route_ = Callable[[Request], Awaitable["Response | Brief"]]
JSON, MESSAGEPACK = "application/json", "application/msgpack"
MODEL_SECONDS = 30
"""How long a device may use a model before it asks for a newer one."""

T = TypeVar("T")


class Api:
    """The routes over one hub."""

    def __init__(self, hub: Hub, token: str, rate: float) -> None:
        self.hub = hub
        self._token = hashlib.sha256(token.encode()).digest() if token else b""
        self._limit = RateLimit(rate)

    def application(self) -> ASGIApp:
        """All routes; the busiest of them is found without the router."""
        routed, reports = self._routed(), self._guarded("/v1/tasks/{id}/reports", self.reports)

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and scope["method"] == "POST" and (found := REPORTS.fullmatch(scope["path"])):
                scope["path_params"] = found.groupdict()
                response = await reports(Request(scope, receive))
                await response(scope, receive, send)
            else:
                await routed(scope, receive, send)

        return application

    def _routed(self) -> Starlette:
        public = {
            ("POST", "/v1/tasks/{id}/reports"): self.reports,
            ("GET", "/v1/tasks/{id}/model"): self.model,
            ("POST", "/v1/tasks/{id}/offers"): self.offers,
            ("GET", "/v1/tasks/{id}"): self.task,
            ("GET", "/v1/tasks/{id}/summary"): self.summary,
            ("GET", "/openapi.json"): self.openapi,
            ("GET", "/healthz"): self.healthz,
            ("POST", "/healthz"): self.healthz,
            ("GET", "/readyz"): self.readyz,
            ("GET", "/metrics"): self.metrics,
        }
        admin = {
            ("GET", "/v1/tasks"): self.list,
            ("POST", "/v1/tasks"): self.create,
            ("POST", "/v1/tasks/{id}/pause"): functools.partial(self.change, paused=True),
            ("POST", "/v1/tasks/{id}/resume"): functools.partial(self.change, paused=False),
            ("POST", "/v1/tasks/{id}/promote"): functools.partial(self.change, mode="live"),
            ("POST", "/v1/tasks/{id}/warm"): self.warm,
            ("GET", "/v1/tasks/{id}/export"): self.export,
        }
        routes = [_route(key, self._guarded(key[1], route)) for key, route in public.items()]
        routes += [_route(key, self._guarded(key[1], self._admin(route))) for key, route in admin.items()]
        return Starlette(routes=routes, exception_handlers={HTTPException: _not_routed})

    # --- for devices -------------------------------------------------------------------------------------------------

    async def task(self, request: Request) -> Response:
        return _json(self._task(request).document(), cache=MODEL_SECONDS)

    async def model(self, request: Request) -> Response:
        body, etag, _ = self._task(request).model()
        headers = {"etag": etag, "cache-control": f"public, max-age={MODEL_SECONDS}"}
        if etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type=JSON)

    async def offers(self, request: Request) -> "Brief":
        task = self._task(request)
        wanted = _body(request, OffersRequest)
        if not 1 <= wanted.count <= LARGEST_OFFERS:
            raise Problem("bad-request", f"count must be between 1 and {LARGEST_OFFERS}, got {wanted.count}")
        offers = task.offers(wanted.count, time.time())
        self.hub.metrics.tickets.labels(task.contract.id).inc(len(offers.offers))
        return _answer(request, offers)

    async def reports(self, request: Request) -> "Brief":
        task = self._task(request)
        batch = _body(request, TicketReports if task.contract.offers == "tickets" else ModelReports)
        if not 1 <= len(batch.reports) <= LARGEST_BATCH:
            raise Problem("bad-request", f"a batch has 1 to {LARGEST_BATCH} reports, got {len(batch.reports)}")
        return _answer(request, Verdicts(verdicts=await self.hub.hear(task, batch)))

    async def summary(self, request: Request) -> Response:
        return _json(self._task(request).summary())

    # --- for the team ------------------------------------------------------------------------------------------------

    async def list(self, request: Request) -> Response:
        return _json({"tasks": [task.document() for task in self.hub.tasks.values()]})

    async def create(self, request: Request) -> Response:
        task, new = await self.hub.create(_body(request, TaskFile))
        return _json(task.document(), status=201 if new else 200)

    async def change(self, request: Request, **changes: bool | str) -> Response:
        task = self._task(request)
        self.hub.change(task, **changes)
        return _json(task.document())

    async def warm(self, request: Request) -> Response:
        task = self._task(request)
        rows = _body(request, WarmRows)
        if not 1 <= len(rows.rows) <= LARGEST_BATCH:
            raise Problem("bad-request", f"a batch has 1 to {LARGEST_BATCH} rows, got {len(rows.rows)}")
        return _json({"heard": await self.hub.warm(task, rows)})

    async def export(self, request: Request) -> Response:
        task = self._task(request)

        def lines() -> Iterator[bytes]:
            yield msgspec.json.encode(task.contract) + b"\n"
            for entries in self.hub.entries():
                own = [entry for entry in entries if entry.report.task == task.number]
                yield b"".join(msgspec.json.encode(_exported(*entry)) + b"\n" for entry in own)

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    # --- for operators -----------------------------------------------------------------------------------------------

    async def openapi(self, request: Request) -> Response:
        return _json(document(), cache=3600)

    async def healthz(self, request: Request) -> Response:
        """Does nothing; a POST is read like any other, so that a probe can measure the way here and back."""
        return Response(b'{"alive":true}', media_type=JSON)

    async def readyz(self, request: Request) -> Response:
        if not self.hub.ready:
            raise Problem("not-ready", "the learner is still starting", retry_after=1)
        return Response(b'{"ready":true}', media_type=JSON)

    async def metrics(self, request: Request) -> Response:
        return Response(self.hub.page(), media_type="text/plain; version=0.0.4")

    # --- around them -------------------------------------------------------------------------------------------------

    def _task(self, request: Request):
        return self.hub.task(request.path_params["id"])

    def _admin(self, route: Route_) -> Route_:
        async def checked(request: Request) -> Response | Brief:
            if not self._token:
                raise Problem("forbidden", "start the server with SOTTOVOCE_ADMIN_TOKEN to manage tasks")
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            given = hashlib.sha256(token.encode()).digest()
            if not (hmac.compare_digest(given, self._token) and scheme.lower() == "bearer"):
                raise Problem("unauthorized", "send the header Authorization: Bearer TOKEN")
            return await route(request)

        return checked

    def _guarded(self, path: str, route: Route_) -> Route_:
        """Rate limit before, problem documents after, and counted."""
        count = functools.cache(lambda status: self.hub.metrics.requests.labels(path, status))

        async def guarded(request: Request) -> Response | Brief:
            try:
                if request.method == "POST":
                    request.scope["content"] = await _content(request)
                client = request.scope["client"]
                if wait := self._limit.wait(client[0] if client else ""):
                    seconds = math.ceil(wait)
                    raise Problem("too-many-requests", f"come back in {seconds} s", retry_after=seconds)
                response = await route(request)
            except Problem as problem:
                response = problem.response()
            except Exception:
                log("route failed", logging.ERROR, failure=True, route=path)
                response = Problem("internal", "the failure is in the server's log").response()
            count(response.status_code).inc()
            return response

        return guarded


async def _content(request: Request) -> bytes:
    """The body, read before anything is decided: a connection with an unread rest could not be used again."""
    content, more = b"", True
    while more:
        message = await request.receive()
        content, more = content + message.get("body", b""), message.get("more_body", False)
        if len(content) > LARGEST_BODY:
            raise Problem("too-large", f"a request has at most {LARGEST_BODY:,} bytes")
    return content


def _body(request: Request, type: type[T]) -> T:
    """The request's body as this type, or a problem that says what is wrong."""
    kind = _kind(request)
    if kind not in (JSON, MESSAGEPACK):
        raise Problem("unsupported-type", f"content-type must be {JSON} or {MESSAGEPACK}")
    decode = msgspec.json.decode if kind == JSON else msgspec.msgpack.decode
    try:
        return decode(request.scope["content"], type=type)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Problem("bad-request", f"the body is not valid: {error}") from error


def _json(value: Any, *, status: int = 200, cache: int = 0) -> Response:
    headers = {"cache-control": f"public, max-age={cache}"} if cache else {"cache-control": "no-store"}
    return Response(msgspec.json.encode(value), status, headers, media_type=JSON)


def _answer(request: Request, value: Any) -> "Brief":
    """In the language of the request."""
    packed = _kind(request) == MESSAGEPACK
    encode = msgspec.msgpack.encode if packed else msgspec.json.encode
    return Brief(encode(value), MESSAGEPACK if packed else JSON)


def _kind(request: Request) -> str:
    for name, value in request.scope["headers"]:
        if name == b"content-type":
            return value.decode("latin-1").partition(";")[0].strip().lower()
    return JSON


class Brief:
    """What devices hear most: a status of 200, three headers, no ceremony."""

    status_code = 200

    def __init__(self, body: bytes, kind: str) -> None:
        self._body = body
        self._headers = [
            (b"content-type", kind.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self._headers})
        await send({"type": "http.response.body", "body": self._body})


def _exported(seq: int, report: Any) -> dict[str, Any]:
    """A report as it was journalled."""
    parts = {name: to_text(getattr(report, name)) for name in ("id", "context", "payload")}
    return {"seq": seq, "day": report.day, "gate": report.gate} | parts


def _route(key: tuple[str, str], endpoint: Route_) -> Route:
    method, path = key
    return Route(path, endpoint, methods=[method])


async def _not_routed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        response = Problem("method-not-allowed", f"{request.method} is not possible here").response()
        response.headers.update(error.headers or {})
        return response
    return Problem("not-found", "there is no such route").response()
