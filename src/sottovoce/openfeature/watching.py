"""The news of the tasks behind the flags: one request for each, the same for everybody, whoever evaluates."""

from collections.abc import Iterable

from sottovoce.client.http import Transport, asked, read
from sottovoce.protocol.errors import Unreachable, WireError
from sottovoce.protocol.wire import TaskStatus


class Watch:
    """What was last heard of each task."""

    def __init__(self, transport: Transport, tasks: Iterable[str]) -> None:
        self._transport = transport
        self._known: dict[str, TaskStatus | None] = dict.fromkeys(tasks)
        self.unknown: set[str] = set()
        """Tasks that the server does not have."""

    def look(self) -> list[str]:
        """The tasks that have changed since the last time: a new model, or open no more. Raises Unreachable."""
        return [task for task in self._known if self._changed(task)]

    def _changed(self, task: str) -> bool:
        try:
            answer = self._transport.request("GET", f"/v1/tasks/{task}")
            if answer.status == 404:
                self.unknown.add(task)
                return False
            status = read(asked(answer), TaskStatus)
        except (OSError, WireError) as error:
            raise Unreachable(f"the server does not answer: {error or type(error).__name__}") from error
        self.unknown.discard(task)
        before, self._known[task] = self._known[task], status
        return before is not None and before != status
