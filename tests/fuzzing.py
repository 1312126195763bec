"""The server against its own OpenAPI document: schemathesis invents requests, good and bad, and judges answers."""

import contextlib
from collections import Counter
from typing import Any

import msgspec
import schemathesis
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from serving import TOKEN, Server

load_all_checks()
CHECKED = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
]


@schemathesis.serializer("application/msgpack")
def messagepack(context: Any, value: Any) -> bytes:
    try:
        return msgspec.msgpack.encode(value)
    except (OverflowError, UnicodeEncodeError):  # JSON can say it, MessagePack cannot
        reject()


@schemathesis.deserializer("application/msgpack")
def from_messagepack(context: Any, response: Any) -> Any:
    return msgspec.msgpack.decode(response.content)


def fuzz(server: Server, document: dict[str, Any], *, examples: int) -> Counter[int]:
    """That many requests of each kind to each operation; how often each status was answered."""
    found: Counter[int] = Counter()
    schema = schemathesis.openapi.from_dict(document)
    checks = CHECKS.get_by_names(CHECKED)
    for operation in (result.ok() for result in schema.get_all_operations()):
        for mode in GenerationMode:

            @settings(
                max_examples=examples,
                derandomize=True,
                database=None,
                deadline=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def one(case: Any) -> None:
                answer = case.call(
                    base_url=f"http://127.0.0.1:{server.port}", headers={"authorization": f"Bearer {TOKEN}"}
                )
                found[answer.status_code] += 1
                case.validate_response(answer, checks=checks)

            with contextlib.suppress(Unsatisfiable):  # nothing can be wrong with a request without parameters
                one()
    return found


def document_of(server: Server) -> dict[str, Any]:
    """The server's document; ids are those of its tasks, and one that there is not."""
    document = server.call("GET", "/openapi.json").json()
    tasks = [task["status"]["id"] for task in server.admin("GET", "/v1/tasks").json()["tasks"]]
    for path in document["paths"].values():
        for parameter in path.get("parameters", []):
            parameter["schema"] = {"enum": [*tasks, "nobody"]}
    return document
