"""A server as its administrator and the fleet see it: a call per route; a problem becomes one line."""

import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from sottovoce.catalogue.task_file import TaskFile
from sottovoce.client.http import LARGEST_ANSWER, Http, Response, Transport
from sottovoce.protocol.contract import ByModel, Contract, contract_from
from sottovoce.protocol.errors import Refused, Unreachable
from sottovoce.protocol.offers import Model, model_from
from sottovoce.protocol.problems import problem_from
from sottovoce.protocol.team import (
    Action,
    Actions,
    AdmissionKey,
    Kept,
    ListedTask,
    Prediction,
    Rollback,
    SnapshotList,
    Summary,
    TaskList,
    WarmRow,
    WarmRows,
)
from sottovoce.protocol.wire import TaskStatus

Document = TypeVar("Document")

TOKEN = "SOTTOVOCE_ADMIN_TOKEN"
ADVICE = {
    401: f"set {TOKEN} to a token of this server",
    404: "`sottovoce task list` shows the tasks of this server",
    413: "send less at once",
    429: "wait and try again",
}
"""What helps, by the status of the problem."""

NOT_READY = 503
PATIENCE = 60.0
"""Seconds that a server may take: to prepare its first offers, to take a report, to learn from all it took."""


DIRECT = urllib.request.OpenerDirector()
"""Asks the server and nobody else: it follows no redirect, for the token is for one server."""
for _handler in ("HTTPHandler", "HTTPSHandler", "HTTPDefaultErrorHandler", "HTTPErrorProcessor"):
    DIRECT.add_handler(getattr(urllib.request, _handler)())


class Remote:
    """One server. Without a token only what is public can be asked."""

    def __init__(self, server: str, token: str = "", transport: Transport | None = None) -> None:
        self._server = server
        self._transport = transport or Http(server, timeout=PATIENCE)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def wait_until_up(self, seconds: float, waiting: Callable[[], None]) -> bool:
        """Is there a server, within so many seconds? `waiting` is called once if it does not answer at first."""
        until, told = time.monotonic() + seconds, False
        while True:
            try:
                self._transport.request("GET", "/healthz")
                return True
            except OSError:
                if time.monotonic() > until:
                    return False
            if not told:
                waiting()
                told = True
            time.sleep(0.2)

    def status(self, id: str) -> TaskStatus:
        return self._call("GET", f"/v1/tasks/{id}", TaskStatus)

    def contract(self, id: str) -> Contract:
        return contract_from(self.contract_body(id))

    def contract_body(self, id: str) -> bytes:
        """The contract as it is served: its digest is taken over these bytes."""
        return self._answer("GET", f"/v1/tasks/{id}/contract")

    def summary(self, id: str) -> Summary:
        return self._call("GET", f"/v1/tasks/{id}/summary", Summary)

    def settled(self, id: str) -> Summary:
        """The summary, as soon as the server has learned from all reports that it took, or knows enough."""
        pause, until = 0.001, time.monotonic() + PATIENCE
        while time.monotonic() < until:
            summary = self.summary(id)
            dealt_with = summary.learned + summary.unread + summary.left_out
            if dealt_with >= summary.reports + summary.warm or summary.done:
                return summary
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        raise Unreachable(f"the server has not learned from the reports of {id} for {PATIENCE:g} seconds")

    def model(self, contract: Contract) -> Model:
        """What devices choose by now."""
        assert isinstance(contract.offers, ByModel)
        body = self._answer("GET", f"/v1/tasks/{contract.id}/model")
        return model_from(body, contract.offers.model, contract.offers.dimension)

    def tasks(self) -> list[ListedTask]:
        return self._call("GET", "/v1/tasks", TaskList).tasks

    def create(self, file: TaskFile) -> TaskStatus:
        return self._call("POST", "/v1/tasks", TaskStatus, file)

    def predict(self, id: str, prediction: Prediction) -> None:
        self._call("POST", f"/v1/tasks/{id}/prediction", Prediction, prediction)

    def change(self, id: str, verb: str) -> TaskStatus:
        """`verb` is pause, resume or promote."""
        return self._call("POST", f"/v1/tasks/{id}/{verb}", TaskStatus)

    def roll_back(self, id: str, learned: int) -> TaskStatus:
        return self._call("POST", f"/v1/tasks/{id}/rollback", TaskStatus, Rollback(learned=learned))

    def snapshots(self, id: str) -> SnapshotList:
        return self._call("GET", f"/v1/tasks/{id}/snapshots", SnapshotList)

    def actions(self, id: str, most: int) -> list[Action]:
        """The newest things that were done with a task, or with all for an empty id; the newest first."""
        return self._call("GET", f"/v1/actions?{urllib.parse.urlencode({'task': id, 'most': most})}", Actions).actions

    def admission_key(self, id: str) -> str:
        return self._call("GET", f"/v1/tasks/{id}/admission-key", AdmissionKey).key

    def export(self, id: str) -> Iterator[bytes]:
        """The contract and the reports, a line each, read as they come: there may be many."""
        address = f"{self._server.rstrip('/')}/v1/tasks/{id}/export"
        try:
            with DIRECT.open(urllib.request.Request(address, headers=self._headers), timeout=PATIENCE) as lines:
                yield from lines
        except urllib.error.HTTPError as problem:
            raise Refused(_problem(problem.code, problem.read(LARGEST_ANSWER))) from problem
        except http.client.HTTPException as error:
            raise Unreachable(f"{self._server} stopped before all was there: {type(error).__name__}") from error
        except OSError as error:
            raise Unreachable(self.nobody) from error

    def warm(self, id: str, rows: list[WarmRow]) -> int:
        return self._call("POST", f"/v1/tasks/{id}/warm", Kept, WarmRows(rows=rows)).rows

    def _call(self, method: str, path: str, kind: type[Document], body: Any = None) -> Document:
        answer = self._answer(method, path, body)
        try:
            return msgspec.json.decode(answer, type=kind)
        except msgspec.DecodeError as error:
            raise Refused(f"{self._server} is not a Sottovoce server of this version: {error}") from error

    def _answer(self, method: str, path: str, body: Any = None) -> bytes:
        sent = None if body is None else msgspec.json.encode(body)
        response, until = self._request(method, path, sent), time.monotonic() + PATIENCE
        while response.status == NOT_READY and time.monotonic() < until:
            time.sleep(0.05)
            response = self._request(method, path, sent)
        if response.status >= 400:
            raise Refused(_problem(response.status, response.body))
        return response.body

    def _request(self, method: str, path: str, body: bytes | None) -> Response:
        try:
            return self._transport.request(method, path, body, self._headers)
        except OSError as error:
            raise Unreachable(self.nobody) from error

    @property
    def nobody(self) -> str:
        return f"no server answers at {self._server}; start one with `sottovoce serve`, or name another with --server"


def _problem(status: int, body: bytes) -> str:
    problem = problem_from(body)
    said = problem.detail or problem.title or f"the server answered with status {status}"
    return f"{said.rstrip('.')}; {ADVICE[status]}" if status in ADVICE else said
