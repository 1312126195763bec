"""The routes that operators use."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sottovoce.server.problems import not_ready
from sottovoce.server.web.hub import Hub
from sottovoce.server.web.messages import json

TEXT = "text/plain; version=0.0.4"


class Alive(msgspec.Struct, frozen=True):
    alive: bool


class Ready(msgspec.Struct, frozen=True):
    ready: bool


async def alive(hub: Hub, request: Request) -> Response:
    """Does nothing; a POST is read like any other, so that a probe can measure the way here and back."""
    return json(Alive(alive=True))


async def ready(hub: Hub, request: Request) -> Response:
    if not hub.ready:
        raise not_ready("the learner is still starting")
    return json(Ready(ready=True))


async def metrics(hub: Hub, request: Request) -> Response:
    return Response(hub.metrics_page(), media_type=TEXT)
