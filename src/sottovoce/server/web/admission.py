"""How much one client may send and ask for.

What counts is what could do harm: each report, each ticket, each permit. A request without any counts as one, whatever
its answer. Counts are held in memory only.
"""

import functools
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable

from prometheus_client import Counter
from starlette.requests import Request
from starlette.types import Scope

from sottovoce.server.addresses import client_of
from sottovoce.server.logs import log
from sottovoce.server.problems import Problem
from sottovoce.server.web.messages import read

BURST_SECONDS = 100
"""A client who asked for nothing so long may send at once what would have been allowed in that time."""
LARGEST_TABLE = 10_000
"""Clients remembered; the one that has asked for nothing longest is forgotten first."""


class Admission:
    """One limit for each client address."""

    def __init__(self, rate: float, proxies: int, limited: Counter) -> None:
        self._limit, self._proxies, self._limited = RateLimit(rate), proxies, limited
        self._warned = False

    async def admit(self, request: Request) -> None:
        """Count the request, whatever becomes of it; its body is read even if it is refused."""
        client = request.scope["asker"] = self.client(request.scope)
        try:
            self.charge(client, 1)
        finally:
            if request.method not in ("GET", "HEAD"):
                request.scope["content"] = await read(request.receive)
        request.scope["charge"] = functools.partial(self.charge, client)

    def client(self, scope: Scope) -> str:
        """Whom the limit counts this request for."""
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        forwarded, peer = ", ".join(given), scope["client"]
        if forwarded and not (self._proxies or self._warned):
            self._warned = True
            log("requests come through a proxy: with --proxies 1 its clients are told apart", logging.WARNING)
        return client_of(peer[0] if peer else "", forwarded, self._proxies)

    def charge(self, client: str, units: int) -> None:
        """Count so many reports, tickets or permits, or refuse them all."""
        if wait := self._limit.wait(client, units):
            self._limited.inc(units)
            seconds = math.ceil(wait)
            raise Problem("too-many-requests", f"come back in {seconds} s", {"retry-after": str(seconds)})


def charge(request: Request, units: int) -> None:
    """For routes: count what this request asks for beyond the one that every request counts as, or refuse it."""
    request.scope["charge"](units - 1)


class RateLimit:
    """`rate` units a second for each client; 0 is no limit. Who has half a burst left may send more, and pays it off.

    >>> limit = RateLimit(0.04, clock=lambda: 0.0)
    >>> [limit.wait("a", 3), limit.wait("a", 2), limit.wait("a"), limit.wait("b", 5), limit.wait("b")]
    [0.0, 25.0, 0.0, 0.0, 50.0]
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, max(2.0, BURST_SECONDS * rate), clock
        self._accounts: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, units: int = 1) -> float:
        """Seconds to wait before so much is allowed; 0 when it is allowed now (and counted)."""
        if not (self._rate and units):
            return 0.0
        now = self._clock()
        left, then = self._accounts.pop(client, (self._burst, now))
        left, needed = min(self._burst, left + (now - then) * self._rate), min(units, self._burst / 2)
        allowed = left >= needed
        self._accounts[client] = (left - units * allowed, now)
        if len(self._accounts) > LARGEST_TABLE:
            self._accounts.popitem(last=False)
        return 0.0 if allowed else (needed - left) / self._rate
