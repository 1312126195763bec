"""The routes that the team uses to manage tasks; each needs the token."""

import itertools
from collections.abc import Iterator
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sottovoce.catalogue.task_file import TaskFile
from sottovoce.protocol.codec import to_text
from sottovoce.protocol.wire import Kept, ListedTask, TaskList, WarmRows
from sottovoce.server.store import Entry
from sottovoce.server.web.devices import task_of
from sottovoce.server.web.hub import Hub
from sottovoce.server.web.messages import body, json

LINES = "application/x-ndjson"
AT_ONCE = 1000
"""Reports of an export sent together."""


async def tasks(hub: Hub, request: Request) -> Response:
    now = hub.clock()
    listed = [ListedTask(status=task.status(now), contract=msgspec.Raw(task.row.body)) for task in hub.tasks.values()]
    return json(TaskList(tasks=listed))


async def create(hub: Hub, request: Request) -> Response:
    task, new = await hub.create(body(request, TaskFile))
    return json(task.status(hub.clock()), status=201 if new else 200)


async def pause(hub: Hub, request: Request) -> Response:
    return await _change(hub, request, paused=True)


async def resume(hub: Hub, request: Request) -> Response:
    return await _change(hub, request, paused=False)


async def promote(hub: Hub, request: Request) -> Response:
    return await _change(hub, request, mode="live")


async def warm(hub: Hub, request: Request) -> Response:
    task = task_of(hub, request)
    return json(Kept(rows=await hub.warm(task, body(request, WarmRows))))


async def export(hub: Hub, request: Request) -> Response:
    """The contract as it is served, and a line for each report; read as it is sent, because there may be many."""
    task = task_of(hub, request)

    def lines() -> Iterator[bytes]:
        yield task.row.body + b"\n"
        entries = hub.entries(task)
        while some := list(itertools.islice(entries, AT_ONCE)):
            yield b"".join(msgspec.json.encode(_exported(entry)) + b"\n" for entry in some)

    return StreamingResponse(lines(), media_type=LINES)


async def _change(hub: Hub, request: Request, **changes: bool | str) -> Response:
    task = task_of(hub, request)
    await hub.change(task, **changes)
    return json(task.status(hub.clock()))


def _exported(entry: Entry) -> dict[str, Any]:
    """A report as it was journalled."""
    report = entry.report
    parts = {name: to_text(getattr(report, name)) for name in ("id", "context", "payload")}
    return {"seq": entry.seq, "day": report.day, "gate": report.gate} | parts
