"""The application: finds the route, and does around each what all of them need."""

import functools
import hashlib
import hmac
import logging
from collections.abc import Collection, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sottovoce.server.logs import log
from sottovoce.server.problems import Problem
from sottovoce.server.web.admission import Admission
from sottovoce.server.web.hub import Hub
from sottovoce.server.web.messages import problem, read
from sottovoce.server.web.origins import comes_from, sharing
from sottovoce.server.web.routes import ROUTES, TASK, Route

TASKS = TASK.removesuffix("{id}")
BY_PATH: dict[str, dict[str, Route]] = {}
for _route in ROUTES:
    BY_PATH.setdefault(_route.path, {})[_route.method] = _route


class Application:
    """The routes over one hub."""

    def __init__(self, hub: Hub, token: str, rate: float, proxies: int = 0) -> None:
        self._hub = hub
        self._token = hashlib.sha256(token.encode()).digest() if token else b""
        self._admission = Admission(rate, proxies, hub.metrics)
        self._count = functools.cache(hub.metrics.requests.labels)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pattern, scope["path_params"] = pattern_of(scope["path"])
        methods = BY_PATH.get(pattern, {})
        request, origins = Request(scope, receive), self._origins(methods, scope["path_params"].get("id", ""))
        answer = await self._answer(pattern, methods, request, origins)
        if origins:
            answer.headers.update(sharing(request, origins, methods))
        self._count(pattern if methods else "none", answer.status_code).inc()
        await answer(scope, receive, send)

    async def _answer(
        self, pattern: str, methods: Mapping[str, Route], request: Request, origins: Collection[str]
    ) -> Response:
        """Limit and token before, problem documents after."""
        try:
            await self._admit(request)
            if request.method == "OPTIONS" and comes_from(request, origins):
                return Response(status_code=204)
            route = route_of(methods, request.method)
            if route.admin:
                self._check_token(request)
            return await route.handler(self._hub, request)
        except Problem as found:
            return problem(found)
        except Exception:
            log("route failed", logging.ERROR, failure=True, route=pattern)
            return problem(Problem("internal", "the failure is in the server's log"))

    def _origins(self, methods: Mapping[str, Route], id: str) -> Collection[str]:
        """The pages that may use this path: those that its task declares, if it is for devices."""
        task = self._hub.tasks.get(id)
        return task.origins if task and not any(route.admin for route in methods.values()) else ()

    async def _admit(self, request: Request) -> None:
        """Count the request, whatever becomes of it; its body is read even if it is refused."""
        request.scope["asker"] = self._admission.client(request)
        charge = functools.partial(self._admission.charge, request.scope["asker"])
        try:
            charge(1)
        finally:
            if request.method not in ("GET", "HEAD"):
                await read(request)
        request.scope["charge"] = charge

    def _check_token(self, request: Request) -> None:
        if not self._token:
            raise Problem("forbidden", "start the server with SOTTOVOCE_ADMIN_TOKEN to manage tasks")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        given = hashlib.sha256(token.encode()).digest()
        if not (hmac.compare_digest(given, self._token) and scheme.lower() == "bearer"):
            raise Problem("unauthorized", "send the header Authorization: Bearer TOKEN", {"www-authenticate": "Bearer"})


def pattern_of(path: str) -> tuple[str, dict[str, str]]:
    """The path as the table writes it, and its parameters.

    >>> pattern_of("/v1/tasks/headline/reports"), pattern_of("/healthz")
    (('/v1/tasks/{id}/reports', {'id': 'headline'}), ('/healthz', {}))
    """
    if not path.startswith(TASKS):
        return path, {}
    id, slash, verb = path.removeprefix(TASKS).partition("/")
    return TASK + slash + verb, {"id": id}


def route_of(methods: Mapping[str, Route], method: str) -> Route:
    """The route for this method; HEAD is GET without its body."""
    if not methods:
        raise Problem("not-found", "there is no such route")
    found = methods.get("GET" if method == "HEAD" else method)
    if found is None:
        raise Problem("method-not-allowed", f"{method} is not possible here", {"allow": ", ".join(sorted(methods))})
    return found
