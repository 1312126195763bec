"""The short way of reports: nearly all requests are one, and they look alike.

Each is answered by the rules of any other request, without what is there for others: the table of routes, `Request` and
`Response`, MessagePack, bodies of unknown length, spans of a trace. One that is unusual goes the long way.
"""

from starlette.responses import Response
from starlette.types import Receive, Scope

from sottovoce.server.tracing import OFF
from sottovoce.server.web.admission import Admission
from sottovoce.server.web.deadline import Deadline
from sottovoce.server.web.hub import Hub
from sottovoce.server.web.messages import BODY_SECONDS, JSON, Said, collected, decoded, too_slow
from sottovoce.server.web.routes import REPORTS
from sottovoce.server.web.task import LiveTask

BEFORE, AFTER = REPORTS.split("{id}")
PLAIN = JSON.encode()
UNUSUAL = {b"content-encoding", b"transfer-encoding"}


class Reporting:
    """Tells which requests can go this way, and answers them."""

    def __init__(self, hub: Hub, admission: Admission) -> None:
        self._hub, self._admission = hub, admission
        self._bodies = Deadline(BODY_SECONDS, too_slow)

    def plain(self, scope: Scope) -> tuple[LiveTask, int] | None:
        """The task and the bytes of a request that goes this way."""
        path: str = scope["path"]
        if not (path.endswith(AFTER) and path.startswith(BEFORE) and scope["method"] == "POST"):
            return None
        task, headers = self._hub.tasks.get(path[len(BEFORE) : -len(AFTER)]), dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        usual = headers.get(b"content-type") == PLAIN and length.isdigit() and UNUSUAL.isdisjoint(headers)
        if task is None or task.batch or not usual or self._hub.tracing is not OFF:
            return None
        return task, int(length)

    async def answer(self, task: LiveTask, length: int, scope: Scope, receive: Receive) -> Response:
        """A verdict on each report."""
        client = self._admission.client(scope)
        try:
            self._admission.charge(client, 1)
        finally:
            content = await self._bodies.within(collected(receive, length))
        reports = decoded(content, JSON, task.reports_type).reports
        self._admission.charge(client, len(reports) - 1)
        return Said(await self._hub.hear(task, reports, client))
