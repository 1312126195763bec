"""The log of actions: who created, paused or rolled back what, and who was refused.

An action is written down before it is done, so one that cannot be written down is not done, and what became of it is
added before it is answered. Refused requests are counted: one entry a minute for each token, and one for all that had
none of ours. They are gathered here and written once a second, so that nobody who guesses tokens makes the disk work.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sottovoce.protocol import team
from sottovoce.protocol.contract import NAME
from sottovoce.report.actions import sentence_of
from sottovoce.server.admins import Admin
from sottovoce.server.logs import log
from sottovoce.server.problems import Problem
from sottovoce.server.store.base import Action, Store
from sottovoce.server.store.thread import StoreThread

WRITE_SECONDS, MINUTE = 1.0, 60
REFUSED = "refused"
"""What the log calls requests with a wrong token or role."""
MOST_ADDRESSES = 8
"""Of those who were refused within a minute, how many are named."""


class About(NamedTuple):
    """What a request is about, before anything is done."""

    task: str
    detail: dict[str, Any]


def of_path(request: Request) -> About:
    """The task that is named in the path, and nothing more."""
    return About(request.path_params.get("id", ""), {})


def entry_of(admin: Admin, action: str, about: About, address: str, now: float) -> Action:
    """An action that has no end yet; nothing is kept of a task whose name cannot be one."""
    task = about.task if NAME.fullmatch(about.task) else ""
    return Action(int(now), admin.name, admin.role, action, task, msgspec.json.encode(about.detail), 0, address)


def note(request: Request, **detail: Any) -> None:
    """For routes: add to what the log says of this request."""
    request.scope.setdefault("noted", {}).update(detail)


class Refusals:
    """Those of one token within one minute."""

    def __init__(self, entry: Action) -> None:
        self.entry, self.times, self.routes, self.addresses = entry, 0, set[str](), list[str]()
        self.number = 0
        """Of its entry; 0 before there is one."""
        self.written = 0
        """How many of them the entry tells."""

    def add(self, route: str, address: str) -> None:
        self.times += 1
        self.routes.add(route)
        if address not in self.addresses and len(self.addresses) < MOST_ADDRESSES:
            self.addresses.append(address)

    @property
    def detail(self) -> bytes:
        told = {"times": self.times, "routes": sorted(self.routes), "addresses": self.addresses}
        return msgspec.json.encode(told)


class Actions:
    """Writes and reads the log."""

    def __init__(self, thread: StoreThread[Store], clock: Callable[[], float]) -> None:
        self._thread, self._clock = thread, clock
        self._refused: dict[tuple[int, str, int], Refusals] = {}
        """By minute, name of the token and status."""

    async def written(self, entry: Action, request: Request, work: Callable[[], Awaitable[Response]]) -> Response:
        """Write down an action, do it, and write down what became of it.

        Where the end cannot be written the entry says so by having none, and the answer stays what it is.
        """
        number = await self._thread.run(self._thread.store.record, entry)
        detail, status = msgspec.json.decode(entry.detail), 0
        try:
            answer = await work()
            status = answer.status_code
            return answer
        except Problem as problem:
            status, detail["problem"] = problem.document.status, problem.document.name
            raise
        except Exception:
            status = 500
            raise
        finally:
            detail |= request.scope.get("noted", {})
            try:
                await self._thread.run(self._thread.store.amend, number, status, msgspec.json.encode(detail))
            except Problem:
                log("the end of an action is not written down", logging.ERROR, action=entry.action, status=status)

    def refuse(self, admin: Admin | None, route: str, status: int, address: str) -> None:
        """Count a request that was refused."""
        now, (name, role) = int(self._clock()), (admin.name, admin.role) if admin else ("", "")
        first = Action(now, name, role, REFUSED, "", b"", status, address)
        self._refused.setdefault((now // MINUTE, name, status), Refusals(first)).add(route, address)

    async def keep(self, insist: Callable[..., Awaitable[None]]) -> None:
        """For as long as the server runs; `insist` tries again where the disk has a fault."""
        while True:
            await asyncio.sleep(WRITE_SECONDS)
            await insist("actions", self.write)

    async def write(self) -> None:
        """What has been refused since the last time."""
        store = self._thread.store
        for key, found in list(self._refused.items()):
            times = found.times
            if found.written < times and found.number:
                await self._thread.run(store.amend, found.number, found.entry.status, found.detail)
            elif found.written < times:
                found.number = await self._thread.run(store.record, found.entry._replace(detail=found.detail))
            found.written = times
            if key[0] < int(self._clock()) // MINUTE and found.written == found.times:
                del self._refused[key]

    async def newest(self, wanted: team.WantedActions) -> list[team.Action]:
        found = await self._thread.run(self._thread.store.actions, wanted.task, wanted.before, wanted.most)
        return [_told(action) for action in found]


def _told(action: Action) -> team.Action:
    named = action._asdict() | {"detail": msgspec.json.decode(action.detail)}
    return team.Action(**named, sentence=sentence_of(action.action, named["detail"], action.status))
