"""What goes wrong, as problem documents (RFC 9457): a type to act on and a sentence to read."""

from typing import Any

import msgspec
from starlette.responses import Response

TITLES = {
    "bad-request": (400, "The request is not what this route takes"),
    "unauthorized": (401, "This route needs the admin token"),
    "forbidden": (403, "This server has no admin token"),
    "not-found": (404, "There is nothing here"),
    "method-not-allowed": (405, "This route does not do that"),
    "contract-differs": (409, "Another contract has this name"),
    "wrong-kind": (409, "This task does not work that way"),
    "task-paused": (409, "The task is paused"),
    "task-expired": (409, "The task has expired"),
    "too-late": (409, "The task has heard people already"),
    "too-large": (413, "The request is too large"),
    "unsupported-type": (415, "The body must be JSON or MessagePack"),
    "bad-task": (422, "The task cannot work"),
    "too-many-requests": (429, "Too many requests"),
    "internal": (500, "The server failed"),
    "not-ready": (503, "The server is not ready yet"),
}


class Problem(Exception):
    """Raised anywhere under a route; becomes the answer.

    >>> Problem("task-paused", "headline is paused; ask later").document()["status"]
    409
    """

    def __init__(self, name: str, detail: str, *, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.name, self.detail, self.retry_after = name, detail, retry_after
        self.status, self.title = TITLES[name]

    def document(self) -> dict[str, Any]:
        return {
            "type": f"urn:sottovoce:problem:{self.name}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }

    def response(self) -> Response:
        headers = {}
        if self.retry_after is not None:
            headers["retry-after"] = str(self.retry_after)
        if self.name == "unauthorized":
            headers["www-authenticate"] = "Bearer"
        body = msgspec.json.encode(self.document())
        return Response(body, self.status, headers, media_type="application/problem+json")
