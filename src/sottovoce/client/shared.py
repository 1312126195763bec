"""One way to the server for many devices: what is the same for everybody is asked for once, while it is fresh."""

import threading
import time

from sottovoce.client.http import Headers, Response, Transport
from sottovoce.client.network import max_age


class Shared:
    """A transport that keeps contracts, statuses and models as long as the server says they hold."""

    def __init__(self, transport: Transport) -> None:
        self._transport, self._lock = transport, threading.Lock()
        self._kept: dict[str, tuple[float, Response]] = {}

    def request(self, method: str, path: str, body: bytes | None = None, headers: Headers = None) -> Response:
        if method != "GET":
            return self._transport.request(method, path, body, headers)
        with self._lock:
            until, kept = self._kept.get(path, (0.0, None))
        if kept is not None and time.monotonic() < until:
            return kept
        answer = self._transport.request(method, path, body, headers)
        if answer.status == 200:
            with self._lock:
                self._kept[path] = time.monotonic() + max_age(answer.headers), answer
        return answer
