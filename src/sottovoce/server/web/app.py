"""The application: finds the route, and does around each what all of them need."""

import functools
import logging
import re
from collections.abc import Awaitable, Collection, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sottovoce.server.admins import Admin, Admins, Role
from sottovoce.server.logs import log
from sottovoce.server.problems import Problem
from sottovoce.server.tracing import UNTOLD
from sottovoce.server.web.actions import entry_of
from sottovoce.server.web.admission import Admission
from sottovoce.server.web.hub import Hub
from sottovoce.server.web.messages import problem
from sottovoce.server.web.origins import comes_from, sharing
from sottovoce.server.web.reporting import Reporting
from sottovoce.server.web.routes import REPORTS, ROUTES, TASK, Route

TASKS = TASK.removesuffix("{id}")
PROTOCOL = TASK.split("/")[1]
VERSION = re.compile(rf"/(?!{PROTOCOL}/)(v[0-9]{{1,4}})/")
"""A path of another version of the protocol."""
BY_PATH: dict[str, dict[str, Route]] = {}
for _route in ROUTES:
    BY_PATH.setdefault(_route.path, {})[_route.method] = _route


class Application:
    """The routes over one hub."""

    def __init__(self, hub: Hub, admins: Admins, rate: float, proxies: int = 0) -> None:
        self._hub, self._admins = hub, admins
        self._admission = Admission(rate, proxies, hub.metrics.limited)
        self._reporting = Reporting(hub, self._admission)
        self._count = functools.cache(hub.metrics.requests.labels)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if plain := self._reporting.plain(scope):
            task, length = plain
            pattern, methods, origins = REPORTS, BY_PATH[REPORTS], task.origins
            answer = await answered(pattern, self._reporting.answer(task, length, scope, receive))
        else:
            pattern, scope["path_params"] = pattern_of(scope["path"])
            methods = BY_PATH.get(pattern, {})
            request, origins = Request(scope, receive), self._origins(methods, scope["path_params"].get("id", ""))
            route = methods.get(request.method)
            with self._hub.tracing.request(request.method, pattern, team=bool(route.role)) if route else UNTOLD as told:
                answer = await answered(pattern, self._answer(pattern, methods, request, origins))
                told(answer.status_code)
        if origins:
            answer.headers.update(sharing(Request(scope), origins, methods))
        self._count(pattern if methods else "none", answer.status_code).inc()
        await answer(scope, receive, send)

    async def _answer(
        self, pattern: str, methods: Mapping[str, Route], request: Request, origins: Collection[str]
    ) -> Response:
        """Limit and token before."""
        await self._admission.admit(request)
        if request.method == "OPTIONS" and comes_from(request, origins):
            return Response(status_code=204)
        route = route_of(methods, request.method, pattern)
        if route.role is None:
            return await route.handler(self._hub, request)
        return await self._managed(route, route.role, request)

    def _origins(self, methods: Mapping[str, Route], id: str) -> Collection[str]:
        """The pages that may use this path: those that its task declares, if it is for devices."""
        task = self._hub.tasks.get(id)
        return task.origins if task and not any(route.role for route in methods.values()) else ()

    async def _managed(self, route: Route, role: Role, request: Request) -> Response:
        """For the team alone. What changes something is written down before it is done, and with its end after it."""
        admin, address = self._admin(request), request.scope["asker"]
        try:
            self._check(admin, role)
        except Problem as refusal:
            self._hub.actions.refuse(admin, f"{route.method} {route.path}", refusal.document.status, address)
            raise
        assert admin is not None
        request.scope["admin"] = admin
        work = functools.partial(route.handler, self._hub, request)
        if not route.action:
            return await work()
        entry = entry_of(admin, route.action, route.about(request), address, self._hub.clock())
        return await self._hub.actions.written(entry, request, work)

    def _admin(self, request: Request) -> Admin | None:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        return self._admins.find(token) if scheme.lower() == "bearer" else None

    def _check(self, admin: Admin | None, role: Role) -> None:
        if self._admins.none:
            raise Problem("forbidden", "start the server with SOTTOVOCE_ADMIN_TOKEN or --tokens to manage tasks")
        if admin is None or admin.expired(self._hub.clock()):
            known = f"the last day of the token {admin.name} is over" if admin else "the token is none of this server"
            detail = f"{known}; send the header Authorization: Bearer TOKEN"
            raise Problem("unauthorized", detail, {"www-authenticate": "Bearer"})
        if not admin.allows(role):
            raise Problem("forbidden", f"this needs a token with the role {role}; {admin.name} has {admin.role}")


async def answered(pattern: str, work: Awaitable[Response]) -> Response:
    """The answer, or the document of a problem."""
    try:
        return await work
    except Problem as found:
        return problem(found)
    except Exception:
        log("route failed", logging.ERROR, failure=True, route=pattern)
        return problem(Problem("internal", "the failure is in the server's log"))


def pattern_of(path: str) -> tuple[str, dict[str, str]]:
    """The path as the table writes it, and its parameters.

    >>> pattern_of("/v1/tasks/headline/reports"), pattern_of("/healthz")
    (('/v1/tasks/{id}/reports', {'id': 'headline'}), ('/healthz', {}))
    """
    if not path.startswith(TASKS):
        return path, {}
    id, slash, verb = path.removeprefix(TASKS).partition("/")
    return TASK + slash + verb, {"id": id}


def route_of(methods: Mapping[str, Route], method: str, pattern: str) -> Route:
    """The route for this method; HEAD is GET without its body."""
    if not methods:
        other = VERSION.match(pattern)
        known = f"; this server speaks {PROTOCOL} of the protocol, not {other[1]}" if other else ""
        raise Problem("not-found", f"there is no such route{known}")
    found = methods.get("GET" if method == "HEAD" else method)
    if found is None:
        raise Problem("method-not-allowed", f"{method} is not possible here", {"allow": ", ".join(sorted(methods))})
    return found
