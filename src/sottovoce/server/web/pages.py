"""The dashboard's routes. Its files are the same for everybody; what they show needs the admin token.

The page sends the token as a header, like the command line, and keeps it for one tab. There is no cookie, so no other
page can make a browser use it; and the policy below runs no script but the server's own files, so none can read it.
"""

import datetime
from importlib import resources

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sottovoce.catalogue.task_file import TaskFile
from sottovoce.catalogue.toml_file import parsed
from sottovoce.protocol import team
from sottovoce.protocol.contract import contract_from
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.report.describe import costs
from sottovoce.server.problems import Problem
from sottovoce.server.web.handlers import Handler, task_of
from sottovoce.server.web.hub import Hub
from sottovoce.server.web.messages import body, json
from sottovoce.server.web.overview import Checked, Lines, TaskText, line_of, named, overview_of

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",  # no text becomes a script, nor markup that holds one
        "trusted-types 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
HTML, SCRIPT = "text/html", "text/javascript"
FILES = {
    "style.css": "text/css",
    "icon.svg": "image/svg+xml",
    "main.js": SCRIPT,
    "server.js": SCRIPT,
    "task.js": SCRIPT,
    "create.js": SCRIPT,
    "charts.js": SCRIPT,
    "history.js": SCRIPT,
    "dom.js": SCRIPT,
}
"""The files beside the page, and their types."""
SHOWN_ACTIONS = 10
"""The newest of a task."""


def file(name: str, media: str) -> Handler:
    """A file of the dashboard, read once."""
    content = resources.files("sottovoce.server").joinpath("dashboard", name).read_bytes()

    async def served(hub: Hub, request: Request) -> Response:
        return Response(content, headers=HEADERS, media_type=media)

    return served


async def lines(hub: Hub, request: Request) -> Response:
    now = hub.clock()
    admin = request.scope["admin"]
    tasks = [line_of(task, now) for task in hub.tasks.values()]
    return json(Lines(token=admin.name, role=admin.role, tasks=tasks))


async def overview(hub: Hub, request: Request) -> Response:
    task = task_of(hub, request)
    done = await hub.actions.newest(team.WantedActions(task=task.contract.id, most=SHOWN_ACTIONS))
    return json(overview_of(task, await hub.history(task), done, hub.clock()))


async def actions(hub: Hub, request: Request) -> Response:
    try:
        wanted = msgspec.convert(dict(request.query_params), team.WantedActions, strict=False)
    except msgspec.ValidationError as error:
        raise Problem("bad-request", f"the parameters are not valid: {error}") from error
    return json(team.Actions(actions=await hub.actions.newest(wanted)))


async def predict(hub: Hub, request: Request) -> Response:
    task, prediction = task_of(hub, request), body(request, team.Prediction)
    await hub.predict(task, prediction)
    return json(prediction)


async def check(hub: Hub, request: Request) -> Response:
    """What the command line does before anything is created, with the same words where it refuses."""
    try:
        found = parsed(body(request, TaskText).text.encode(), TaskFile, "a task", "the file")
    except ConfigurationError as error:
        raise Problem("bad-task", str(error)) from error
    contract = contract_from(await hub.contract(found))
    today = datetime.datetime.fromtimestamp(hub.clock(), datetime.UTC).date()
    if contract.expires < today:
        raise Problem("bad-task", f"its last day, {contract.expires}, is over; write a later day for expires")
    return json(Checked(file=found, costs=named(costs(contract))))
