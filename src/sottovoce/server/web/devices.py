"""The routes that devices use. No token: what they answer is the same for everybody, or a ticket."""

from starlette.requests import Request
from starlette.responses import Response

from sottovoce.protocol.contract import ByModel
from sottovoce.protocol.wire import ModelReports, OffersRequest, TicketReports, Verdicts
from sottovoce.server.web.hub import Hub
from sottovoce.server.web.messages import answer, body, cached, json
from sottovoce.server.web.task import LiveTask

STATUS_SECONDS = 30
"""How long a device may go by a status, and with it by a model, before it asks for a newer one."""
CONTRACT_SECONDS = 86400
"""A contract never changes; the status says its digest."""


async def status(hub: Hub, request: Request) -> Response:
    return json(task_of(hub, request).status(hub.clock()), cache=STATUS_SECONDS)


async def contract(hub: Hub, request: Request) -> Response:
    task = task_of(hub, request)
    return cached(request, task.row.body, task.digest, CONTRACT_SECONDS)


async def model(hub: Hub, request: Request) -> Response:
    task = task_of(hub, request)
    return cached(request, task.model(), task.version, STATUS_SECONDS)


async def offers(hub: Hub, request: Request) -> Response:
    task = task_of(hub, request)
    found = task.offers(body(request, OffersRequest).count, hub.clock())
    hub.metrics.tickets.labels(task.contract.id).inc(len(found.offers))
    return answer(request, found)


async def reports(hub: Hub, request: Request) -> Response:
    task = task_of(hub, request)
    batch = body(request, ModelReports if isinstance(task.contract.offers, ByModel) else TicketReports)
    return answer(request, Verdicts(verdicts=await hub.hear(task, batch)))


async def summary(hub: Hub, request: Request) -> Response:
    return json(task_of(hub, request).summary())


def task_of(hub: Hub, request: Request) -> LiveTask:
    return hub.task(request.path_params["id"])
