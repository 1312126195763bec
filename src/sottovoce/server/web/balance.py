"""An alarm for clients that throw permits away: whoever forges asks for many, and uses those whose coin suits him."""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable

from sottovoce.protocol.contract import DAY
from sottovoce.server.logs import log

LARGEST_TABLE = 10_000
"""Clients remembered; the one that has asked for nothing longest is forgotten first."""
LEAST, FAR_MORE = 500, 8
"""Permits of one client before anything is said of it, and how many for each report. A device keeps two ready."""


class Balance:
    """Tickets or permits of one task that each client was given, and reports that it sent. In memory only.

    Both counts of a client are halved every day. Many devices behind one address that seldom decide look the same as
    a forger: this refuses nothing.

    >>> balance = Balance("headline", clock=lambda: 0.0)
    >>> balance.given("a", 499), balance.given("b", 4000), balance.sent("b", 600)
    (None, None, None)
    >>> balance.discarding, balance.given("a", 1), balance.discarding, balance.sent("a", 62), balance.discarding
    (0, None, 1, None, 0)
    """

    def __init__(self, task: str, clock: Callable[[], float] = time.time) -> None:
        self._task, self._clock = task, clock
        self._counts: OrderedDict[str, tuple[float, float, int]] = OrderedDict()
        """Permits, reports, and the day."""
        self._discarding: set[str] = set()

    @property
    def discarding(self) -> int:
        """Clients that were given far more than they used."""
        return len(self._discarding)

    def given(self, client: str, permits: int) -> None:
        self._count(client, permits, 0)

    def sent(self, client: str, reports: int) -> None:
        self._count(client, 0, reports)

    def _count(self, client: str, permits: float, reports: float) -> None:
        today = int(self._clock()) // DAY
        had, used, day = self._counts.pop(client, (0.0, 0.0, today))
        part = 0.5 ** max(0, today - day)  # a clock may be set back
        had, used = had * part + permits, used * part + reports
        self._counts[client] = (had, used, today)
        if len(self._counts) > LARGEST_TABLE:
            self._discarding.discard(self._counts.popitem(last=False)[0])
        self._judge(client, had, used)

    def _judge(self, client: str, had: float, used: float) -> None:
        far_more = had >= LEAST and had > FAR_MORE * (used + 1)
        if far_more and client not in self._discarding:
            said = "a client is given far more permits than it uses"
            log(said, logging.WARNING, task=self._task, permits=round(had), reports=round(used))
        (self._discarding.add if far_more else self._discarding.discard)(client)
