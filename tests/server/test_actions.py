"""The log of actions: nothing is done with a token that is not written down first, and nobody can fill the disk."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_admins import entry, write
from test_hub import Idle

from serving import ARMS, CLIENT, TOKEN, Server, created, ticket_report, until
from sottovoce.cli import main
from sottovoce.protocol.team import WantedActions
from sottovoce.server.admins import Admin, Admins
from sottovoce.server.problems import Problem
from sottovoce.server.store.base import StoreFault
from sottovoce.server.store.sqlite import SqliteStore
from sottovoce.server.web.actions import MINUTE, MOST_ADDRESSES, About, entry_of
from sottovoce.server.web.app import Application
from sottovoce.server.web.hub import Hub

ME = Admin("me", "operate", "")
T = "/v1/tasks/arms"
PREDICTION = {"runs": 8, "followed": 2000, "people_needed": 400}


def log(server: Server, query: str = "") -> list[dict[str, Any]]:
    """The oldest first."""
    answer = server.call("GET", f"/v1/actions{query}", token=TOKEN)
    assert answer.status == 200, answer.body
    return answer.json()["actions"][::-1]


# --- with a real server ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with which everything was done once."""
    folder = tmp_path_factory.mktemp("served")
    tokens = write(folder / "tokens.toml", entry("robot", "r"), entry("me", "o", "operate"))
    server = Server(folder / "data", tokens=tokens).start()

    try:
        do_everything(server)
        yield server
    finally:
        server.close()


def do_everything(server: Server) -> None:
    def call(method: str, path: str, body: Any = None) -> int:
        return server.call(method, path, body, token="o").status

    assert call("POST", "/v1/tasks", ARMS | {"admission": "signed"}) == 201
    assert call("POST", "/v1/tasks", ARMS) == 409
    assert call("POST", f"{T}/prediction", PREDICTION) == 200
    assert call("POST", f"{T}/warm", {"rows": [{"message": [0.5], "action": 1}] * 3}) == 200
    server.caught_up("arms")
    assert [call("POST", f"{T}/{verb}") for verb in ("pause", "resume", "promote")] == [200] * 3
    assert call("POST", f"{T}/rollback", {"learned": 9}) == 400
    assert call("POST", f"{T}/rollback", {"learned": 1}) == 200
    assert [call("GET", f"{T}/{what}") for what in ("export", "admission-key")] == [200] * 2
    assert call("POST", "/v1/tasks/nobody/pause") == 404
    assert [server.call("POST", f"{T}/pause", token=token).status for token in ("r", "wrong")] == [403, 401]


def test_everything_that_is_done_is_written_down_with_who_what_and_what_became_of_it(served: Server):
    done = [one for one in log(served) if one["action"] != "refused"]
    digest = served.call("GET", T).json()["digest"]
    assert [(one["action"], one["status"], one["task"]) for one in done] == [
        ("create", 201, "arms"),
        ("create", 409, "arms"),
        ("predict", 200, "arms"),
        ("warm", 200, "arms"),
        ("pause", 200, "arms"),
        ("resume", 200, "arms"),
        ("promote", 200, "arms"),
        ("rollback", 400, "arms"),
        ("rollback", 200, "arms"),
        ("export", 200, "arms"),
        ("admission-key", 200, "arms"),
        ("pause", 404, "nobody"),
    ]
    assert {(one["token"], one["role"], one["address"]) for one in done} == {("me", "operate", CLIENT)}
    details = [one["detail"] for one in done]
    assert details[:4] == [{"digest": digest, "mode": "live"}, {"problem": "contract-differs"}, {}, {"rows": 3}]
    assert details[7:9] == [{"learned": 9, "problem": "bad-request"}, {"learned": 1}]
    assert [one["sentence"] for one in done[7:9]] == [
        "not done: rollback to 9 reports (bad-request)",
        "rolled back to 1 report",
    ]
    assert sorted(one["number"] for one in done) == [one["number"] for one in done]


def test_the_log_is_read_by_task_and_page_by_page(served: Server):
    every = log(served, "?task=arms&most=1000")
    assert {one["task"] for one in every} == {"arms"}
    assert log(served, f"?task=arms&most=2&before={every[-1]['number']}") == every[-3:-1]
    assert log(served, "?task=another") == []
    for wrong in ("?most=0", "?most=1001", "?most=x", "?before=-1", "?tusk=arms"):
        assert served.call("GET", f"/v1/actions{wrong}", token="r").status == 400
    shown = served.call("GET", f"{T}/overview", token="r").json()["actions"]
    assert shown == every[::-1][:10]


def test_refused_requests_are_counted_and_make_an_entry_a_minute_at_most(served: Server):
    for _ in range(40):
        assert served.call("GET", "/v1/tasks", token="guess").status == 401
        assert served.call("POST", f"{T}/{'x' * 100}/pause", token="r").status == 404  # no route: nobody asked for it
    for _ in range(3):
        assert served.call("POST", f"{T}/resume", token="r").status == 403

    def counted(token: str) -> list[dict[str, Any]]:
        return [one for one in log(served) if (one["action"], one["token"]) == ("refused", token)]

    def times(token: str) -> int:
        return sum(one["detail"]["times"] for one in counted(token))

    until(lambda: times("") == 41 and times("robot") == 4, seconds=10)
    unknown, robot = counted(""), counted("robot")
    assert len(unknown) <= 2  # the tests may run over the end of a minute
    assert len(robot) <= 2
    assert {(one["status"], one["address"], one["task"]) for one in unknown} == {(401, CLIENT, "")}
    assert {(one["status"], one["role"]) for one in robot} == {(403, "read")}
    routes = {route for one in unknown for route in one["detail"]["routes"]}
    assert routes == {"POST /v1/tasks/{id}/pause", "GET /v1/tasks"}


def test_no_token_is_in_the_folder_and_the_log_outlives_the_server(served: Server, monkeypatch: Any, capsys: Any):
    server, before = served, log(served)
    for wrong in ("guess-of-somebody", TOKEN[:-1]):
        server.call("GET", "/v1/tasks", token=wrong)
    assert server.stop() == 0  # what was just refused is written too
    for file in server.folder.glob("journal*"):
        for token in (TOKEN.encode()[:-1], b"guess-of-somebody"):
            assert token not in file.read_bytes()
    server.start().ready()
    after = log(server)
    assert [one["number"] for one in after][: len(before)] == [one["number"] for one in before]
    assert sum(one["detail"]["times"] for one in after if not one["token"]) == 2 + sum(
        one["detail"]["times"] for one in before if not one["token"]
    )
    monkeypatch.setenv("SOTTOVOCE_ADMIN_TOKEN", "r")
    monkeypatch.setenv("COLUMNS", "120")
    address = f"http://127.0.0.1:{server.port}"
    for words, said in (
        (["arms"], ["Actions on arms", "created, contract ", "rolled back to 1 report"]),
        ([], ["nobody", "not done: pause (not-found)", "no token, or none of this server"]),
        (["another"], ["nothing has been written down yet"]),
    ):
        monkeypatch.setattr(sys, "argv", ["sottovoce", "task", "log", *words, "--server", address])
        with pytest.raises(SystemExit):
            main()
        printed = capsys.readouterr().out
        assert all(one in printed for one in said), printed


def test_reports_and_looking_are_not_written_down(served: Server):
    before = log(served)
    contract = served.create(ARMS | {"id": "open"})
    served.report("open", *(ticket_report(contract, ticket) for ticket in served.tickets("open", 3)))
    for path in ("/v1/tasks", "/v1/overview", f"{T}/overview", "/v1/actions", f"{T}/summary"):
        assert served.call("GET", path, token="r").status == 200
    assert [one["action"] for one in log(served)[len(before) :]] == ["create"]


# --- faults ----------------------------------------------------------------------------------------------------------


class Faulty(SqliteStore):
    """Its log cannot be written to: from the beginning, or once an action has begun."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.failing: set[str] = set()

    def record(self, action):
        if "record" in self.failing:
            raise StoreFault("full")
        return super().record(action)

    def amend(self, number, status, detail):
        if "amend" in self.failing:
            raise StoreFault("full")
        super().amend(number, status, detail)


async def post(application: Application, path: str, token: str) -> int:
    """The status of the answer to a POST without a body."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    headers = [(b"authorization", b"Bearer " + token.encode())]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "client": None, "query_string": b""}
    await application(scope, receive, send)
    return sent[0]["status"]


def test_an_action_that_cannot_be_written_down_is_not_done_and_a_refusal_needs_no_disk(tmp_path: Path):
    store = Faulty(tmp_path)
    created(store)

    async def scene() -> None:
        async with Hub(store, Idle()) as hub:
            application = Application(hub, Admins("t"), 0.0)
            store.failing = {"record", "amend"}
            assert await post(application, f"{T}/pause", "t") == 503
            assert not hub.task("arms").row.paused
            assert [await post(application, f"{T}/pause", token) for token in ("x", "")] == [401, 401]
            store.failing = {"amend"}
            assert await post(application, f"{T}/pause", "t") == 200  # it was done, and its beginning is written
            assert hub.task("arms").row.paused
            store.failing = set()
            assert await post(application, f"{T}/resume", "t") == 200

    asyncio.run(scene())
    again = SqliteStore(tmp_path)
    found = [(one.action, one.status) for one in again.actions("", 0, 9)]
    assert found == [("refused", 401), ("resume", 200), ("pause", 0)]
    assert not again.tasks()[0].paused
    again.close()


@pytest.mark.parametrize(
    ("failure", "status", "problem"),
    [(Problem("too-late", ""), 409, "too-late"), (ValueError(), 500, None), (asyncio.CancelledError(), 0, None)],
)
def test_a_failure_in_the_middle_is_written_down_too(
    tmp_path: Path, failure: BaseException, status: int, problem: str | None
):
    store = SqliteStore(tmp_path)

    async def work() -> Any:
        assert store.actions("", 0, 1)[0].status == 0  # it was written down before
        raise failure

    async def scene() -> None:
        async with Hub(store, Idle()) as hub:
            entry = entry_of(ME, "rollback", About("arms", {"learned": 5}), "192.0.2.7", 1000.0)
            request: Any = type("Request", (), {"scope": {}})
            with pytest.raises(type(failure)):
                await hub.actions.written(entry, request, work)
            (found,) = await hub.actions.newest(WantedActions())
            assert (found.time, found.token, found.status, found.detail["learned"]) == (1000, "me", status, 5)
            assert found.detail.get("problem") == problem

    asyncio.run(scene())


def test_many_who_are_refused_for_hours_make_an_entry_a_minute(tmp_path: Path):
    store, now = SqliteStore(tmp_path), [0.0]

    async def scene() -> list[Any]:
        async with Hub(store, Idle(), lambda: now[0]) as hub:
            for second in range(0, 5 * MINUTE, 10):
                now[0] = second
                for client in range(20):
                    hub.actions.refuse(None, "GET /v1/tasks", 401, f"192.0.2.{client}")
                await hub.actions.write()
            now[0] += MINUTE
            await hub.actions.write()
            assert not hub.actions._refused  # nothing is kept in memory for what is over
            return await hub.actions.newest(WantedActions())

    found = asyncio.run(scene())
    assert [(one.time, one.detail["times"]) for one in found[::-1]] == [(MINUTE * n, 120) for n in range(5)]
    assert all(len(one.detail["addresses"]) == MOST_ADDRESSES for one in found)


def test_a_task_whose_name_cannot_be_one_is_not_written_down():
    assert entry_of(ME, "create", About("x" * 10_000, {}), "", 0.0).task == ""
    assert entry_of(ME, "create", About("<b>", {}), "", 0.0).task == ""
