"""The wire as an OpenAPI 3.1 document, made from the table of routes and from the types that it names."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from sottovoce.protocol.contract import NAME, Contract
from sottovoce.protocol.problems import PROBLEMS, ProblemDocument
from sottovoce.server.web.messages import JSON, MESSAGEPACK, PROBLEM

if TYPE_CHECKING:
    from sottovoce.server.web.routes import Route

ALWAYS = ("bad-request", "too-many-requests", "internal")
"""Problems that any route may answer with."""
ADMIN = ("unauthorized", "forbidden")
SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "description": "An admin token. Each operation names the role that it needs; `operate` is enough for all of them.",
}
RECORDED = ("not-ready",)
"""What is written down before it is done is not done while the store cannot be written to."""
BODY = ("too-large", "too-slow", "unsupported-type")
REFERENCE = "#/components/schemas/{name}"
OF_CONTRACT = "Contract.{name}"
"""In a contract a number that is not whole is a decimal string, so its parts have schemas of their own."""
DECIMAL = {"type": "string", "description": "A decimal number, to be read as an IEEE double."}


def document(routes: "Sequence[Route]") -> dict[str, Any]:
    """The whole document."""
    schema_of, components = _schemas({kind for route in routes for kind in (*route.takes, route.answer)})
    paths: dict[str, Any] = {}
    for route in routes:
        path = paths.setdefault(route.path, _parameters(route.path))
        path[route.method.lower()] = _operation(route, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sottovoce",
            "version": "2",
            "description": "The server makes an offer, the user answers with a private report, the server learns.",
        },
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": SCHEME}},
    }


def _parameters(path: str) -> dict[str, Any]:
    if "{id}" not in path:
        return {}
    name = {"type": "string", "pattern": f"^{NAME.pattern}$"}
    return {"parameters": [{"name": "id", "in": "path", "required": True, "schema": name}]}


def _operation(route: "Route", schema_of: dict[Any, Any]) -> dict[str, Any]:
    """One operation; answers have the format of the request where the request has a body that devices send."""
    media = (route.media, MESSAGEPACK) if route.takes and not route.role else (route.media,)
    good = _content(media, schema_of[route.answer])
    found: dict[str, Any] = {
        "summary": route.summary,
        "responses": {str(route.status): {"description": route.summary, **good}},
    }
    for status, meaning in route.others.items():
        found["responses"][str(status)] = {"description": meaning, **(good if status == 200 else {})}
    problems = ["not-found"] * ("{id}" in route.path) + [*route.problems, *(BODY if route.takes else ()), *ALWAYS]
    found["responses"] |= _problems([*problems, *(ADMIN if route.role else ()), *(RECORDED if route.action else ())])
    if route.takes:
        bodies = [schema_of[kind] for kind in route.takes]
        schema = bodies[0] if len(bodies) == 1 else {"oneOf": bodies}
        found["requestBody"] = {"required": True, **_content((JSON, MESSAGEPACK), schema)}
    if route.query:
        named = msgspec.json.schema(route.query)["$defs"][route.query.__name__]["properties"]
        found["parameters"] = [{"name": name, "in": "query", "schema": schema} for name, schema in named.items()]
    if route.role:
        found["security"] = [{"token": [route.role]}]
    return found


def _problems(names: Iterable[str]) -> dict[str, Any]:
    """By status: several problems may share one."""
    found: dict[str, Any] = {}
    for name in names:
        status, title = PROBLEMS[name]
        body = _content((PROBLEM,), {"$ref": REFERENCE.format(name=ProblemDocument.__name__)})
        entry = found.setdefault(str(status), {"description": "", **body})
        entry["description"] = f"{entry['description']}; {title}".removeprefix("; ")
    return found


def _content(media: Iterable[str], schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {kind: {"schema": schema} for kind in media}}


def _schemas(kinds: set[Any]) -> tuple[dict[Any, Any], dict[str, Any]]:
    """The schema of each type, and the parts that they refer to."""
    plain = [*(kinds - {Contract}), ProblemDocument]
    found, components = msgspec.json.schema_components(plain, ref_template=REFERENCE)
    (contract,), parts = msgspec.json.schema_components([Contract], ref_template=REFERENCE.format(name=OF_CONTRACT))
    components |= {OF_CONTRACT.format(name=name): _decimal(part) for name, part in parts.items()}
    return dict(zip(plain, found, strict=True)) | {Contract: contract}, components


def _decimal(schema: Any) -> Any:
    """The same schema where numbers travel as decimal strings."""
    if isinstance(schema, list):
        return [_decimal(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return DECIMAL if schema.get("type") == "number" else {name: _decimal(one) for name, one in schema.items()}
