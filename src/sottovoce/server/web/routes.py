"""Every route, once: the router and the OpenAPI document are made from this table.

A new route is a function of (hub, request) and an entry here.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from sottovoce.catalogue.task_file import TaskFile
from sottovoce.protocol import wire
from sottovoce.protocol.contract import Contract
from sottovoce.server.web import devices, operators, team
from sottovoce.server.web.hub import Hub
from sottovoce.server.web.messages import JSON, json
from sottovoce.server.web.openapi import document

Handler = Callable[[Hub, Request], Awaitable[Response]]


class Route(NamedTuple):
    method: str
    path: str
    handler: Handler
    summary: str
    answer: Any
    """The type of the answer's body."""
    takes: tuple[type, ...] = ()
    """The types of the request's body: one of them."""
    problems: tuple[str, ...] = ()
    """Besides those that any route may have."""
    admin: bool = False
    """Does it need the token?"""
    status: int = 200
    others: Mapping[int, str] = {}
    """Other statuses without a problem, and what they mean."""
    media: str = JSON


BODY = ("too-large", "unsupported-type")
"""Problems of a route that takes a body."""
HAVE_IT = {304: "The client has it already"}
TASK = "/v1/tasks/{id}"


async def openapi(hub: Hub, request: Request) -> Response:
    return json(document(ROUTES), cache=3600)


ROUTES = (
    # for devices
    Route("GET", TASK, devices.status, "What may change while a task lives", wire.TaskStatus, problems=("not-found",)),
    Route("GET", f"{TASK}/contract", devices.contract, "What a device must know of the task, and may rely on",
          Contract, problems=("not-found",), others=HAVE_IT),
    Route("GET", f"{TASK}/model", devices.model, "The model for everybody, for tasks with features",
          dict, problems=("not-found", "wrong-kind", "not-ready"), others=HAVE_IT),
    Route("POST", f"{TASK}/offers", devices.offers, "Tickets, for tasks without features", wire.Offers,
          takes=(wire.OffersRequest,),
          problems=("not-found", "wrong-kind", "task-paused", "task-expired", "not-ready", *BODY)),
    Route("POST", f"{TASK}/reports", devices.reports, "A batch of private reports; one verdict each", wire.Verdicts,
          takes=(wire.TicketReports, wire.ModelReports), problems=("not-found", "not-ready", *BODY)),
    Route("GET", f"{TASK}/summary", devices.summary, "What was learned", wire.Summary,
          problems=("not-found", "not-ready")),
    # for the team
    Route("GET", "/v1/tasks", team.tasks, "All tasks", wire.TaskList, admin=True),
    Route("POST", "/v1/tasks", team.create, "Create a task", wire.TaskStatus, takes=(TaskFile,), admin=True,
          problems=("contract-differs", "bad-task", *BODY), status=201, others={200: "This very task exists"}),
    Route("POST", f"{TASK}/pause", team.pause, "Hear no reports for a while", wire.TaskStatus, admin=True,
          problems=("not-found",)),
    Route("POST", f"{TASK}/resume", team.resume, "Hear reports again", wire.TaskStatus, admin=True,
          problems=("not-found",)),
    Route("POST", f"{TASK}/promote", team.promote, "Let an apprentice choose", wire.TaskStatus, admin=True,
          problems=("not-found",)),
    Route("POST", f"{TASK}/warm", team.warm, "Consented data, in the clear, before the first report", wire.Kept,
          takes=(wire.WarmRows,), admin=True, problems=("not-found", "wrong-kind", "too-late", "not-ready", *BODY)),
    Route("GET", f"{TASK}/export", team.export, "The contract and the journal, a line each", str, admin=True,
          problems=("not-found",), media=team.LINES),
    # for operators
    Route("GET", "/openapi.json", openapi, "This document", dict),
    Route("GET", "/healthz", operators.alive, "The process lives", operators.Alive),
    Route("POST", "/healthz", operators.alive, "It lives, and has read the body", operators.Alive,
          problems=("too-large",)),
    Route("GET", "/readyz", operators.ready, "It can hear and learn", operators.Ready, problems=("not-ready",)),
    Route("GET", "/metrics", operators.metrics, "For Prometheus", str, media="text/plain"),
)  # fmt: skip
