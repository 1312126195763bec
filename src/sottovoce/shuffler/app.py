"""The routes of a shuffler: those of a server that devices use, so that a device need not know the difference."""

import functools
import logging
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sottovoce.protocol.wire import Commitments, ModelReports, Verdicts
from sottovoce.server.logs import log
from sottovoce.server.problems import Problem, not_ready
from sottovoce.server.web.admission import Admission, charge
from sottovoce.server.web.app import pattern_of
from sottovoce.server.web.handlers import CONTRACT_SECONDS, STATUS_SECONDS, TEXT, Alive
from sottovoce.server.web.messages import answer, body, cached, json, problem
from sottovoce.server.web.origins import comes_from, sharing
from sottovoce.server.web.routes import TASK
from sottovoce.shuffler.service import Shuffler
from sottovoce.shuffler.task import MirroredTask

Handler = Callable[[Shuffler, Request], Awaitable[Response]]


def task_of(shuffler: Shuffler, request: Request) -> MirroredTask:
    if (task := shuffler.tasks.get(request.path_params["id"])) is None:
        raise Problem("not-found", "this shuffler does not serve such a task")
    return task


async def status(shuffler: Shuffler, request: Request) -> Response:
    return json(task_of(shuffler, request).status, cache=STATUS_SECONDS)


async def contract(shuffler: Shuffler, request: Request) -> Response:
    task = task_of(shuffler, request)
    return cached(request, task.body, task.digest, CONTRACT_SECONDS)


async def model(shuffler: Shuffler, request: Request) -> Response:
    task = task_of(shuffler, request)
    return cached(request, task.model, task.status.version, STATUS_SECONDS)


async def permits(shuffler: Shuffler, request: Request) -> Response:
    task, commitments = task_of(shuffler, request), body(request, Commitments).commitments
    charge(request, len(commitments))
    found = task.permits(commitments, shuffler.clock())
    shuffler.metrics.permits.labels(task.id).inc(len(found.permits))
    return answer(request, found)


async def reports(shuffler: Shuffler, request: Request) -> Response:
    task, batch = task_of(shuffler, request), body(request, ModelReports)
    charge(request, len(batch.reports))
    return answer(request, Verdicts(verdicts=await shuffler.take(task, batch.reports)))


async def alive(shuffler: Shuffler, request: Request) -> Response:
    return json(Alive(alive=True))


async def ready(shuffler: Shuffler, request: Request) -> Response:
    if trouble := shuffler.trouble:
        raise not_ready(trouble)
    return json(Alive(alive=True))


async def metrics(shuffler: Shuffler, request: Request) -> Response:
    return Response(shuffler.metrics_page(), media_type=TEXT)


ROUTES: dict[str, dict[str, Handler]] = {
    TASK: {"GET": status},
    f"{TASK}/contract": {"GET": contract},
    f"{TASK}/model": {"GET": model},
    f"{TASK}/permits": {"POST": permits},
    f"{TASK}/reports": {"POST": reports},
    "/healthz": {"GET": alive},
    "/readyz": {"GET": ready},
    "/metrics": {"GET": metrics},
}


class Application:
    """The routes over one shuffler."""

    def __init__(self, shuffler: Shuffler, rate: float, proxies: int = 0) -> None:
        self._shuffler, self._count = shuffler, functools.cache(shuffler.metrics.requests.labels)
        self._admission = Admission(rate, proxies, shuffler.metrics.limited)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pattern, scope["path_params"] = pattern_of(scope["path"])
        request, methods = Request(scope, receive), ROUTES.get(pattern, {})
        task = self._shuffler.tasks.get(scope["path_params"].get("id", ""))
        found = await self._answer(pattern, request, task)
        if task and task.origins:
            found.headers.update(sharing(request, task.origins, methods))
        self._count(pattern if methods else "none", found.status_code).inc()
        await found(scope, receive, send)

    async def _answer(self, pattern: str, request: Request, task: MirroredTask | None) -> Response:
        """Limit before, problem documents after."""
        try:
            await self._admission.admit(request)
            if request.method == "OPTIONS" and task and comes_from(request, task.origins):
                return Response(status_code=204)
            return await _handler(pattern, request.method)(self._shuffler, request)
        except Problem as refusal:
            return problem(refusal)
        except Exception:
            log("route failed", logging.ERROR, failure=True, route=pattern)
            return problem(Problem("internal", "the failure is in the shuffler's log"))


def _handler(pattern: str, method: str) -> Handler:
    """For this method; HEAD is GET without its body."""
    if not (methods := ROUTES.get(pattern, {})):
        raise Problem("not-found", "there is no such route; what is for the team is at the server")
    found = methods.get("GET" if method == "HEAD" else method)
    if found is None:
        raise Problem("method-not-allowed", f"{method} is not possible here", {"allow": ", ".join(sorted(methods))})
    return found
