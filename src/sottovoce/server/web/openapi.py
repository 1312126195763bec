"""The wire as an OpenAPI 3.1 document, made from the same types that the routes decode into."""

from functools import lru_cache
from typing import Any

import msgspec

from sottovoce.catalogue.task_file import TaskFile
from sottovoce.protocol import wire
from sottovoce.protocol.contract import NAME
from sottovoce.server.web.problems import TITLES

JSON, MESSAGEPACK, PROBLEM = "application/json", "application/msgpack", "application/problem+json"
REFERENCE = "#/components/schemas/{name}"

BATCHES = {"TicketReports": "reports", "ModelReports": "reports", "WarmRows": "rows"}
ALWAYS = ("bad-request", "too-many-requests", "internal")
"""Problems that any route may answer with."""


@lru_cache(maxsize=1)
def document() -> dict[str, Any]:
    """The whole document.

    >>> sorted(document()["paths"])[0]
    '/healthz'
    """
    problem = _object("What went wrong (RFC 9457).", type="string", title="string", status="integer", detail="string")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sottovoce",
            "version": "1",
            "description": "The server makes an offer, the user answers with a private report, the server learns.",
        },
        "paths": {path: _with_parameters(path, methods) for path, methods in _paths().items()},
        "components": {
            "schemas": _schemas() | {"Problem": problem},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _paths() -> dict[str, Any]:
    task = "/v1/tasks/{id}"
    reports = {"oneOf": [_ref("TicketReports"), _ref("ModelReports")]}
    listed = _object("Every task.", tasks={"type": "array", "items": _ref("TaskDocument")})
    heard = _object("How many rows were kept.", heard="integer")
    alive = _object("", alive="boolean")
    changed = _route("Change what may change", 200, _ref("TaskDocument"), admin=True, problems=["not-found"])
    return {
        task: {"get": _route("The public contract", 200, _ref("TaskDocument"), problems=["not-found"])},
        f"{task}/model": {"get": _model()},
        f"{task}/offers": {
            "post": _route(
                "Tickets, for tasks without features", 200, _ref("Offers"), body=_ref("OffersRequest"),
                problems=["not-found", "wrong-kind", "too-large", "unsupported-type", "not-ready"],
            )
        },
        f"{task}/reports": {
            "post": _route(
                "A batch of private reports; one verdict each", 200, _ref("Verdicts"), body=reports,
                problems=["not-found", "too-large", "unsupported-type", "not-ready"],
            )
        },
        f"{task}/summary": {
            "get": _route("What was learned", 200, _ref("Summary"), problems=["not-found", "not-ready"])
        },
        "/v1/tasks": {
            "get": _route("All tasks", 200, listed, admin=True),
            "post": _created(),
        },
        **{f"{task}/{verb}": {"post": changed} for verb in ("pause", "resume", "promote")},
        f"{task}/warm": {
            "post": _route(
                "Consented data, in the clear, before the first report", 200, heard, body=_ref("WarmRows"), admin=True,
                problems=["not-found", "wrong-kind", "too-large", "unsupported-type", "not-ready"],
            )
        },
        f"{task}/export": {
            "get": _route(
                "The contract and the journal, a line each", 200, {"type": "string"}, admin=True,
                problems=["not-found"], media="application/x-ndjson",
            )
        },
        "/openapi.json": {"get": _route("This document", 200, {"type": "object"})},
        "/healthz": {
            "get": _route("The process lives", 200, alive),
            "post": _route("It lives, and has read the body", 200, alive, problems=["too-large"]),
        },
        "/readyz": {"get": _route("It can hear and learn", 200, _object("", ready="boolean"), problems=["not-ready"])},
        "/metrics": {"get": _route("For Prometheus", 200, {"type": "string"}, media="text/plain")},
    }  # fmt: skip


def _with_parameters(path: str, methods: dict[str, Any]) -> dict[str, Any]:
    if "{id}" not in path:
        return methods
    name = {"type": "string", "pattern": f"^{NAME.pattern}$"}
    return {"parameters": [{"name": "id", "in": "path", "required": True, "schema": name}]} | methods


def _route(
    summary: str,
    status: int,
    answer: dict[str, Any],
    *,
    body: dict[str, Any] | None = None,
    problems: list[str] | None = None,
    admin: bool = False,
    media: str = JSON,
) -> dict[str, Any]:
    """One operation; answers speak the language of the request where the request has a body that devices send."""
    names = [*(problems or []), *ALWAYS, *(("unauthorized", "forbidden") if admin else ())]
    packed = body is not None and not admin
    found: dict[str, Any] = {
        "summary": summary,
        "responses": {
            str(status): {
                "description": summary,
                "content": {media: {"schema": answer}} | ({MESSAGEPACK: {"schema": answer}} if packed else {}),
            },
            **_problems(names),
        },
    }
    if body is not None:
        found["requestBody"] = {"required": True, "content": {kind: {"schema": body} for kind in (JSON, MESSAGEPACK)}}
    if admin:
        found["security"] = [{"token": []}]
    return found


def _model() -> dict[str, Any]:
    found = _route(
        "The model for everybody, for tasks with features", 200, _ref("ModelDocument"),
        problems=["not-found", "wrong-kind", "not-ready"],
    )  # fmt: skip
    found["responses"]["304"] = {"description": "The model that the device already has"}
    return found


def _created() -> dict[str, Any]:
    found = _route(
        "Create a task", 201, _ref("TaskDocument"), body=_ref("TaskFile"), admin=True,
        problems=["contract-differs", "too-large", "unsupported-type", "bad-task"],
    )  # fmt: skip
    found["responses"]["200"] = found["responses"]["201"] | {"description": "This very task exists"}
    return found


def _problems(names: list[str]) -> dict[str, Any]:
    """By status: several problems may share one."""
    found: dict[str, Any] = {}
    for name in names:
        status, title = TITLES[name]
        entry = found.setdefault(str(status), {"description": "", "content": {PROBLEM: {"schema": _ref("Problem")}}})
        entry["description"] = f"{entry['description']}; {title}".removeprefix("; ")
    return found


def _schemas() -> dict[str, Any]:
    types = [
        TaskFile, wire.TaskDocument, wire.ModelDocument, wire.OffersRequest, wire.Offers, wire.TicketReports,
        wire.ModelReports, wire.Verdicts, wire.Summary, wire.WarmRows,
    ]  # fmt: skip
    _, schemas = msgspec.json.schema_components(types, ref_template=REFERENCE)
    schemas["OffersRequest"]["properties"]["count"] |= {"minimum": 1, "maximum": wire.LARGEST_OFFERS}
    for name, batch in BATCHES.items():
        schemas[name]["properties"][batch] |= {"minItems": 1, "maxItems": wire.LARGEST_BATCH}
    return schemas


def _ref(name: str) -> dict[str, str]:
    return {"$ref": REFERENCE.format(name=name)}


def _object(description: str, **properties: str | dict[str, Any]) -> dict[str, Any]:
    typed = {name: {"type": kind} if isinstance(kind, str) else kind for name, kind in properties.items()}
    return {"type": "object", "description": description, "properties": typed, "required": list(properties)}
