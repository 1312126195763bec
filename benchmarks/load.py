"""A load generator for HTTP on loopback: as fast as the connections allow, or at a steady rate."""

import asyncio
import itertools
import json
import time
from collections import deque
from collections.abc import Callable, Sequence

CONNECTIONS = 64

Source = Callable[[], tuple[float, bytes | None]]
"""The next request and when it was due (0: now); an empty one to wait for more, None at the end."""


class Connection(asyncio.Protocol):
    """Sends one request after the other as they come out of `source`, and notes how long each took."""

    def __init__(self, source: Source, seconds: list[float], idle: deque) -> None:
        self._source, self._seconds, self._idle = source, seconds, idle
        self._heard = b""
        self.over = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.advance()

    def advance(self) -> None:
        due, request = self._source()
        if request is None:
            self._transport.close()
            if not self.over.done():
                self.over.set_result(None)
        elif not request:
            self._idle.append(self)
        else:
            self._start = due or time.perf_counter()
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._heard += data
        head, found, rest = self._heard.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(rest) < length:
            return
        if not head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 304")) or b"bad-" in rest or b"unknown" in rest:
            raise RuntimeError(f"the server refused: {head.splitlines()[0]!r} {rest[:200]!r}")
        self._seconds.append(time.perf_counter() - self._start)
        self._heard = rest[length:]
        self.advance()


async def _load(ports: Sequence[int], source: Source) -> tuple[list[float], float]:
    seconds: list[float] = []
    loop, start = asyncio.get_running_loop(), time.perf_counter()
    made = [
        await loop.create_connection(lambda: Connection(source, seconds, deque()), "127.0.0.1", port)
        for _, port in zip(range(CONNECTIONS), itertools.cycle(ports), strict=False)
    ]
    await asyncio.gather(*(connection.over for _, connection in made))
    return seconds, time.perf_counter() - start


def closed_loop(port: int | Sequence[int], requests: list[bytes]) -> float:
    """Requests a second, as fast as the connections allow, which are spread over the ports."""
    turn = iter(requests)
    seconds, total = asyncio.run(_load([port] if isinstance(port, int) else port, lambda: (0.0, next(turn, None))))
    return len(seconds) / total


async def paced(port: int, requests: list[bytes], rate: float) -> list[float]:
    """Requests at a steady rate, whether or not the ones before were answered; latency counts from when one is due."""
    seconds: list[float] = []
    due: deque[tuple[float, bytes]] = deque()
    idle: deque[Connection] = deque()
    over = False

    def source() -> tuple[float, bytes | None]:
        if due:
            return due.popleft()
        return 0.0, None if over else b""

    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(lambda: Connection(source, seconds, idle), "127.0.0.1", port)
        for _ in range(CONNECTIONS)
    ]
    start = loop.time()
    for number, request in enumerate(requests):
        wait = start + number / rate - loop.time()
        if wait > 0:
            await asyncio.sleep(wait)
        due.append((time.perf_counter(), request))
        if idle:
            idle.popleft().advance()
    over = True
    while idle:
        idle.popleft().advance()
    await asyncio.gather(*(connection.over for _, connection in made))
    return seconds


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n".encode()


def post(path: str, body: object) -> bytes:
    data = json.dumps(body, separators=(",", ":")).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: bench\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data
