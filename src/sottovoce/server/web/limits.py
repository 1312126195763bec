"""How much one client may ask for: a bucket of tokens per address, in memory only, and not too many buckets."""

import time
from collections import OrderedDict

LARGEST_TABLE = 10_000
"""Addresses remembered; the one that was silent longest is forgotten first."""


class RateLimit:
    """`rate` requests a second for each client, with bursts of twice that; 0 is no limit.

    >>> limit = RateLimit(1.0, clock=lambda: 0.0)
    >>> [limit.wait("a"), limit.wait("a"), limit.wait("a"), limit.wait("b")]
    [0.0, 0.0, 1.0, 0.0]
    """

    def __init__(self, rate: float, clock=time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Seconds to wait before the next request; 0 when this one is allowed (and counted)."""
        if not self._rate:
            return 0.0
        now = self._clock()
        tokens, then = self._buckets.pop(client, (2 * self._rate, now))
        tokens = min(2 * self._rate, tokens + (now - then) * self._rate)
        allowed = tokens >= 1
        self._buckets[client] = (tokens - allowed, now)
        if len(self._buckets) > LARGEST_TABLE:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self._rate
