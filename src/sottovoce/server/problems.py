"""What goes wrong in the server, raised anywhere under a route; it becomes a problem document."""

from collections.abc import Mapping

from sottovoce.protocol.problems import PREFIX, PROBLEMS, ProblemDocument


class Problem(Exception):
    """One of `protocol.problems.PROBLEMS`, and what happened.

    >>> Problem("task-paused", "headline is paused; ask later").document.status
    409
    """

    def __init__(self, name: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        status, title = PROBLEMS[name]
        self.document = ProblemDocument(type=PREFIX + name, title=title, status=status, detail=detail)
        self.headers = dict(headers or {})


def not_ready(detail: str, seconds: int = 1) -> Problem:
    """Ask again after so many seconds."""
    return Problem("not-ready", detail, {"retry-after": str(seconds)})
