"""What goes wrong on the wire, as problem documents (RFC 9457): a type to act on and a sentence to read."""

import msgspec

PREFIX = "urn:sottovoce:problem:"
LARGEST = 2**16
"""Bytes of a document that are read."""

PROBLEMS = {
    "bad-request": (400, "The request is not what this route takes"),
    "unauthorized": (401, "This route needs an admin token"),
    "forbidden": (403, "No token that was sent allows this"),
    "not-admitted": (403, "This task needs a token that its app has signed"),
    "not-found": (404, "There is nothing here"),
    "method-not-allowed": (405, "This route does not do that"),
    "too-slow": (408, "The request took too long"),
    "contract-differs": (409, "Another contract has this name"),
    "wrong-kind": (409, "This task does not work that way"),
    "task-paused": (409, "The task is paused"),
    "task-expired": (409, "The task has expired"),
    "task-done": (409, "The task knows enough"),
    "too-late": (409, "The task has private reports already"),
    "too-large": (413, "The request is too large"),
    "unsupported-type": (415, "The body must be JSON or MessagePack"),
    "bad-task": (422, "The task cannot work"),
    "too-many-requests": (429, "Too many requests"),
    "internal": (500, "The server failed"),
    "not-ready": (503, "The server is not ready yet"),
}
"""Every problem by its name: the status and the title."""


class ProblemDocument(msgspec.Struct, frozen=True):
    type: str = ""
    title: str = ""
    status: int = 0
    detail: str = ""

    @property
    def name(self) -> str:
        """The last part of the type; empty if it is none of ours."""
        name = self.type.removeprefix(PREFIX)
        return name if name in PROBLEMS and name != self.type else ""


def problem_from(body: bytes) -> ProblemDocument:
    """The document; an empty one if the body is none.

    >>> problem_from(b'{"type": "urn:sottovoce:problem:task-paused", "status": 409}').name
    'task-paused'
    """
    try:
        return msgspec.json.decode(body, type=ProblemDocument) if len(body) <= LARGEST else ProblemDocument()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ProblemDocument()
