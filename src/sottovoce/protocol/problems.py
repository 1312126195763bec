"""What goes wrong on the wire, as problem documents (RFC 9457): a type to act on and a sentence to read."""

import msgspec

PREFIX = "urn:sottovoce:problem:"


class ProblemDocument(msgspec.Struct, frozen=True):
    type: str = ""
    title: str = ""
    status: int = 0
    detail: str = ""

    @property
    def name(self) -> str:
        """The last part of the type; empty if it is none of ours."""
        return self.type.removeprefix(PREFIX) if self.type.startswith(PREFIX) else ""


def problem_from(body: bytes) -> ProblemDocument:
    """The document; an empty one if the body is none.

    >>> problem_from(b'{"type": "urn:sottovoce:problem:task-paused", "status": 409}').name
    'task-paused'
    """
    try:
        return msgspec.json.decode(body, type=ProblemDocument)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ProblemDocument()
