"""What each route does. Routes of devices need no token: what they answer is the same for everybody, or a ticket."""

import functools
import itertools
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sottovoce.catalogue.task_file import TaskFile
from sottovoce.protocol import team, wire
from sottovoce.protocol.codec import to_text
from sottovoce.report.statement.facts import facts_of
from sottovoce.report.statement.text import as_page
from sottovoce.server.problems import Problem, not_ready
from sottovoce.server.store.base import Entry
from sottovoce.server.web.actions import About, note
from sottovoce.server.web.admission import charge
from sottovoce.server.web.hub import Hub
from sottovoce.server.web.messages import answer, body, cached, json
from sottovoce.server.web.task import LiveTask

STATUS_SECONDS = 30
"""How long a device may go by a status, and with it by a model, before it asks for a newer one."""
CONTRACT_SECONDS = 86400
"""A contract never changes; the status says its digest."""
LINES, TEXT, HTML = "application/x-ndjson", "text/plain; version=0.0.4", "text/html; charset=utf-8"
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""A page of ours loads nothing and runs nothing."""
AT_ONCE = 1000
"""Reports of an export sent together."""

Handler = Callable[[Hub, Request], Awaitable[Response]]


class Alive(msgspec.Struct, frozen=True):
    alive: bool


class Ready(msgspec.Struct, frozen=True):
    ready: bool
    set_aside: list[str]
    """Tasks whose learner failed; the others are served and learned."""


def task_of(hub: Hub, request: Request) -> LiveTask:
    return hub.task(request.path_params["id"])


async def admitted(hub: Hub, request: Request, *, permits: bool) -> tuple[LiveTask, list[str]]:
    """The task and the commitments of a request for permits or tickets, once they are paid for.

    Refused where the task wants a token for so many and this request has none. A request that is refused for another
    reason uses no token up.
    """
    task, now = task_of(hub, request), hub.clock()
    commitments = body(request, wire.Commitments).commitments
    charge(request, len(commitments))
    if task.tokens:
        token = task.tokens.read(request.headers.get(wire.ADMISSION, ""), len(commitments), now)
        task.check(commitments, now, permits=permits)
        await task.tokens.use(token, now)
    return task, commitments


# --- devices ---------------------------------------------------------------------------------------------------------


async def status(hub: Hub, request: Request) -> Response:
    return json(task_of(hub, request).status(hub.clock()), cache=STATUS_SECONDS)


async def contract(hub: Hub, request: Request) -> Response:
    task = task_of(hub, request)
    return cached(request, task.row.body, task.digest, CONTRACT_SECONDS)


async def model(hub: Hub, request: Request) -> Response:
    task = task_of(hub, request)
    return cached(request, task.model(), task.version, STATUS_SECONDS)


async def offers(hub: Hub, request: Request) -> Response:
    task, commitments = await admitted(hub, request, permits=False)
    found = task.offers(commitments, hub.clock())
    task.balance.given(request.scope["asker"], len(commitments))
    hub.metrics.tickets.labels(task.contract.id).inc(len(found.offers))
    return answer(request, found)


async def permits(hub: Hub, request: Request) -> Response:
    task, commitments = await admitted(hub, request, permits=True)
    found = task.permits(commitments, hub.clock())
    task.balance.given(request.scope["asker"], len(commitments))
    hub.metrics.permits.labels(task.contract.id).inc(len(found.permits))
    return answer(request, found)


async def reports(hub: Hub, request: Request) -> Response:
    """`Reporting` answers most of these requests, in the same way."""
    task = task_of(hub, request)
    task.check_direct()
    batch = body(request, task.reports_type)
    charge(request, len(batch.reports))
    return answer(request, await hub.hear(task, batch.reports, request.scope["asker"]))


async def batches(hub: Hub, request: Request) -> Response:
    """Reports that a shuffler has mixed. What counts against its limit is the request, for it speaks for many."""
    task = task_of(hub, request)
    batch = body(request, wire.ShuffledReports)
    verdicts = await hub.take(task, functools.partial(task.judge_batch, batch))
    return answer(request, wire.Verdicts(verdicts=verdicts))


async def summary(hub: Hub, request: Request) -> Response:
    return json(task_of(hub, request).summary())


async def statement(hub: Hub, request: Request) -> Response:
    """For whoever wants to know what a task promises before taking part: the contract in words, and nothing else."""
    task = task_of(hub, request)
    headers = {"content-security-policy": PAGE_POLICY, "cache-control": f"public, max-age={STATUS_SECONDS}"}
    return Response(_statement(task.row.body, task.warm), media_type=HTML, headers=headers)


@functools.lru_cache(maxsize=64)
def _statement(body: bytes, warm: int) -> str:
    return as_page(facts_of(body, warm))


# --- the team --------------------------------------------------------------------------------------------------------


async def tasks(hub: Hub, request: Request) -> Response:
    now, known = hub.clock(), hub.tasks.values()
    listed = [team.ListedTask(status=task.status(now), contract=msgspec.Raw(task.row.body)) for task in known]
    return json(team.TaskList(tasks=listed))


async def create(hub: Hub, request: Request) -> Response:
    task, new = await hub.create(body(request, TaskFile))
    note(request, digest=task.digest, mode=task.row.mode)
    return json(task.status(hub.clock()), status=201 if new else 200)


def change(**changes: bool | str) -> Handler:
    async def changed(hub: Hub, request: Request) -> Response:
        task = task_of(hub, request)
        await hub.change(task, **changes)
        return json(task.status(hub.clock()))

    return changed


pause, resume, promote = change(paused=True), change(paused=False), change(mode="live")


def rollback_about(request: Request) -> About:
    """The task, and how far back."""
    return About(request.path_params["id"], {"learned": body(request, team.Rollback).learned})


def creation_about(request: Request) -> About:
    return About(body(request, TaskFile).id, {})


async def roll_back(hub: Hub, request: Request) -> Response:
    task = task_of(hub, request)
    done = await hub.roll_back(task, body(request, team.Rollback).learned)
    return json(task.status(hub.clock()), status=200 if done else 202)


async def snapshots(hub: Hub, request: Request) -> Response:
    return json(await hub.snapshots(task_of(hub, request)))


async def admission_key(hub: Hub, request: Request) -> Response:
    task = task_of(hub, request)
    if task.tokens is None:
        raise Problem(
            "wrong-kind", 'everybody may ask this task for tickets; admission = "signed" is declared in its file'
        )
    return json(team.AdmissionKey(key=to_text(task.tokens.key)))


async def warm(hub: Hub, request: Request) -> Response:
    task = task_of(hub, request)
    rows = await hub.warm(task, body(request, team.WarmRows))
    note(request, rows=rows)
    return json(team.Kept(rows=rows))


async def export(hub: Hub, request: Request) -> Response:
    """The contract as it is served, and a line for each report; read as it is sent, because there may be many."""
    task = task_of(hub, request)

    def lines() -> Iterator[bytes]:
        yield task.row.body + b"\n"
        entries = hub.entries(task)
        while some := list(itertools.islice(entries, AT_ONCE)):
            yield b"".join(msgspec.json.encode(_exported(entry)) + b"\n" for entry in some)

    return StreamingResponse(lines(), media_type=LINES)


def _exported(entry: Entry) -> dict[str, Any]:
    """A report as it was journalled."""
    report = entry.report
    parts = {name: to_text(getattr(report, name)) for name in ("id", "context", "payload")}
    return {"seq": entry.seq, "day": report.day, "gate": report.gate} | parts


# --- operators -------------------------------------------------------------------------------------------------------


async def alive(hub: Hub, request: Request) -> Response:
    """Does nothing; a POST is read like any other, so that a probe can measure the way here and back."""
    return json(Alive(alive=True))


async def ready(hub: Hub, request: Request) -> Response:
    if trouble := hub.trouble:
        raise not_ready(trouble)
    return json(Ready(ready=True, set_aside=[id for id, task in hub.tasks.items() if task.broken]))


async def metrics(hub: Hub, request: Request) -> Response:
    return Response(hub.metrics_page(), media_type=TEXT)
