"""Every route, once: the router and the OpenAPI document are made from this table.

A new route is a function of (hub, request) and an entry here.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sottovoce.catalogue.task_file import TaskFile
from sottovoce.protocol import team, wire
from sottovoce.protocol.contract import Contract
from sottovoce.server.admins import Role
from sottovoce.server.web import handlers, overview, pages
from sottovoce.server.web.actions import About, of_path
from sottovoce.server.web.hub import Hub
from sottovoce.server.web.messages import JSON, json
from sottovoce.server.web.openapi import document


class Route(NamedTuple):
    method: str
    path: str
    handler: handlers.Handler
    summary: str
    answer: Any
    """The type of the answer's body."""
    takes: tuple[type, ...] = ()
    """The types of the request's body: one of them."""
    problems: tuple[str, ...] = ()
    """Besides those that any route may have."""
    role: Role | None = None
    """What an admin token must allow to use it; None where everybody may."""
    action: str = ""
    """What the log of actions calls it; empty where it is not written down."""
    about: Callable[[Request], About] = of_path
    """What the log says of the request before anything is done."""
    query: type | None = None
    """The type of its parameters after the question mark."""
    status: int = 200
    others: Mapping[int, str] = {}
    """Other statuses without a problem, and what they mean."""
    media: str = JSON


HAVE_IT = {304: "The client has it already"}
TASK = "/v1/tasks/{id}"
REPORTS = f"{TASK}/reports"


async def openapi(hub: Hub, request: Request) -> Response:
    return json(msgspec.Raw(_document()), cache=3600)


@functools.cache
def _document() -> bytes:
    """Made once: that takes forty times as long as to answer a report."""
    return msgspec.json.encode(document(ROUTES))


ROUTES = (
    # for devices
    Route("GET", TASK, handlers.status, "What may change about a task", wire.TaskStatus),
    Route("GET", f"{TASK}/contract", handlers.contract, "What a device may rely on", Contract, others=HAVE_IT),
    Route("GET", f"{TASK}/model", handlers.model, "The model for everybody, for tasks with features", dict,
          problems=("wrong-kind", "not-ready"), others=HAVE_IT),
    Route("POST", f"{TASK}/offers", handlers.offers, "Tickets, for tasks without features", wire.Offers,
          takes=(wire.Commitments,),
          problems=("wrong-kind", "task-paused", "task-expired", "not-admitted", "not-ready")),
    Route("POST", f"{TASK}/permits", handlers.permits, "Permits, for tasks with features", wire.Permits,
          takes=(wire.Commitments,),
          problems=("wrong-kind", "task-paused", "task-expired", "task-done", "not-admitted")),
    Route("POST", REPORTS, handlers.reports, "A batch of private reports; one verdict each", wire.Verdicts,
          takes=(wire.TicketReports, wire.ModelReports), problems=("wrong-kind", "not-ready")),
    Route("GET", f"{TASK}/summary", handlers.summary, "What was learned", team.Summary, problems=("not-ready",)),
    Route("GET", f"{TASK}/statement", handlers.statement, "What the task promises, in words: a page", str,
          media="text/html"),
    # for the team
    Route("GET", "/v1/tasks", handlers.tasks, "All tasks", team.TaskList, role="read"),
    Route("POST", "/v1/tasks", handlers.create, "Create a task", wire.TaskStatus, takes=(TaskFile,), role="operate",
          action="create", about=handlers.creation_about, problems=("contract-differs", "bad-task"), status=201,
          others={200: "This very task exists"}),
    Route("POST", f"{TASK}/pause", handlers.pause, "Take no reports for a while", wire.TaskStatus, role="operate",
          action="pause"),
    Route("POST", f"{TASK}/resume", handlers.resume, "Take reports again", wire.TaskStatus, role="operate",
          action="resume"),
    Route("POST", f"{TASK}/promote", handlers.promote, "Let an apprentice choose", wire.TaskStatus, role="operate",
          action="promote"),
    Route("POST", f"{TASK}/rollback", handlers.roll_back, "Learn no more from what came after so many reports",
          wire.TaskStatus, takes=(team.Rollback,), role="operate", action="rollback", about=handlers.rollback_about,
          problems=("not-ready",), others={202: "It has begun; the summary says the rest"}),
    Route("GET", f"{TASK}/snapshots", handlers.snapshots, "The states that it can be rolled back to at once",
          team.SnapshotList, role="read", problems=("not-ready",)),
    Route("POST", f"{TASK}/warm", handlers.warm, "Consented data, in the clear, before the first report", team.Kept,
          takes=(team.WarmRows,), role="operate", action="warm", problems=("wrong-kind", "too-late")),
    Route("GET", f"{TASK}/admission-key", handlers.admission_key, "What the app signs admission tokens with",
          team.AdmissionKey, role="operate", action="admission-key", problems=("wrong-kind",)),
    Route("GET", f"{TASK}/export", handlers.export, "The contract and the journal, a line each", str, role="operate",
          action="export", media=handlers.LINES),
    Route("POST", f"{TASK}/prediction", pages.predict, "What is expected of it, before its first report",
          team.Prediction, takes=(team.Prediction,), role="operate", action="predict", problems=("too-late",)),
    Route("GET", "/v1/actions", pages.actions, "What was done and refused, by whom; the newest first", team.Actions,
          query=team.WantedActions, role="read"),
    Route("POST", f"{TASK}/batches", handlers.batches, "A batch of reports that a shuffler has mixed; one verdict each",
          wire.Verdicts, takes=(wire.ShuffledReports,), role="shuffle", problems=("wrong-kind", "not-ready")),
    # for the dashboard
    Route("GET", "/dashboard", pages.file("index.html", pages.HTML), "The dashboard", str, media=pages.HTML),
    *(Route("GET", f"/dashboard/{name}", pages.file(name, media), "A file of the dashboard", str, media=media)
      for name, media in pages.FILES.items()),
    Route("GET", "/v1/overview", pages.lines, "A line for each task", overview.Lines, role="read"),
    Route("GET", f"{TASK}/overview", pages.overview, "All that the dashboard shows of a task", overview.Overview,
          role="read"),
    Route("POST", "/v1/check", pages.check, "Check a task file in TOML; nothing is created", overview.Checked,
          takes=(overview.TaskText,), role="read", problems=("bad-task",)),
    # for operators
    Route("GET", "/openapi.json", openapi, "This document", dict),
    Route("GET", "/healthz", handlers.alive, "The process runs", handlers.Alive),
    Route("POST", "/healthz", handlers.alive, "It runs, and read the body", handlers.Alive,
          problems=("too-large", "too-slow")),
    Route("GET", "/readyz", handlers.ready, "It can take reports and learn", handlers.Ready, problems=("not-ready",)),
    Route("GET", "/metrics", handlers.metrics, "For Prometheus", str, media="text/plain"),
)  # fmt: skip
