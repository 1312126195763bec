"""Bodies that are not what the routes take, and the server against its own OpenAPI document."""

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from schemathesis.core.failures import FailureGroup

from fuzzing import document_of, fuzz
from malforming import JSON, MESSAGEPACK, send_malformed
from serving import ARMS, MODEL, TOKEN, Server
from sottovoce.server.web import routes


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("served")).start()
    yield server
    server.close()


def test_two_thousand_malformed_bodies_change_nothing(server: Server):
    """`make soak` has ten thousand."""
    send_malformed(server, 2_000)


def test_the_server_keeps_to_its_openapi_document(server: Server):
    server.create(ARMS)
    server.create(MODEL)
    answered = fuzz(server, document_of(server), examples=6)
    assert {200, 400, 404, 409, 422} <= set(answered)
    assert max(answered) < 500


def test_the_openapi_document_is_made_once(monkeypatch: pytest.MonkeyPatch):
    """Anybody may ask for it, and to make it takes milliseconds."""
    nobody: Any = None
    first = asyncio.run(routes.openapi(nobody, nobody)).body
    monkeypatch.setattr(routes, "document", lambda _: {})
    assert asyncio.run(routes.openapi(nobody, nobody)).body == first


def test_a_document_that_lies_is_caught(server: Server):
    document = document_of(server)
    document["paths"] = {"/healthz": document["paths"]["/healthz"]}
    answer = document["paths"]["/healthz"]["get"]["responses"]["200"]["content"][JSON]["schema"]
    answer["required"] = ["dead"]
    with pytest.raises(FailureGroup, match="dead"):
        fuzz(server, document, examples=1)


@pytest.mark.parametrize(
    "strange",
    [
        {"horizon": 10**30},
        {"publish_every": 10**30},
        {"privacy": {"epsilon": 1e300}},
        {"tuning": {"high": 1e300}},
        {"tuning": {"epsilon": 1.0}},
        {"actions": [str(n) for n in range(5000)]},
        {"title": "long" * 1000},
        {"expires": "never"},
        {"delay": "1w"},
    ],
    ids=lambda strange: "-".join(strange),
)
def test_a_task_that_no_server_can_carry_is_refused(server: Server, strange: dict[str, Any]):
    answer = server.admin("POST", "/v1/tasks", ARMS | {"id": "strange"} | strange)
    assert answer.status in (400, 422), answer
    assert server.call("GET", "/v1/tasks/strange").status == 404


def test_rows_that_are_no_messages_do_not_warm_a_task_up(server: Server):
    server.create(ARMS | {"id": "cold", "publish_every": 3})
    path = "/v1/tasks/cold/warm"
    rows = [[], [0.1, 0.2], [1.5], [1e300], [float("nan")], [float("inf")]]
    for message in rows:
        body = msgspec.msgpack.encode({"rows": [{"action": 0, "message": message}]})
        answer = server.call("POST", path, body, token=TOKEN, headers={"content-type": MESSAGEPACK})
        assert answer.status == 400, (message, answer)
    for action in (None, -1, 3, 10**18):
        assert server.admin("POST", path, {"rows": [{"action": action, "message": [0.5]}]}).status == 400
    assert server.admin("POST", path, {"rows": [{"action": 2, "message": [0.5]}] * 3}).json() == {"rows": 3}
    after = server.caught_up("cold")
    assert (after["warm"], after["learned"], after["reports"]) == (3, 3, 0)
    assert after["estimates"][2]["reports"] == 0  # what is not private is counted apart
