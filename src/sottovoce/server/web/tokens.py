"""Admission tokens as the server takes them: each once, in one request.

Used ids are kept in memory until they expire. A token that was issued before the server started is refused, because it
may have been used before; the app signs another.
"""

import contextlib
import hmac
from collections.abc import Iterator

from sottovoce.admission import LONGEST, read
from sottovoce.protocol.wire import ADMISSION
from sottovoce.server.problems import Problem, not_ready

CLOCKS = 60
"""Seconds by which the clocks of two servers may differ."""
LARGEST_TABLE = 200_000
"""Ids remembered for one task; then people are asked to come back, rather than that a token is taken twice."""


class TokenDesk:
    """Takes the tokens of one task."""

    def __init__(self, secret: bytes, task: str, started: float) -> None:
        self.key = hmac.digest(secret, task.encode(), "sha256")
        """Which the app's server signs with."""
        self._task, self._started = task, int(started)
        self._used: dict[bytes, int] = {}
        """When each expires."""

    @contextlib.contextmanager
    def once(self, text: str, tickets: int, now: float) -> Iterator[None]:
        """Admit so many tickets, or refuse; the token is used up unless the work inside fails."""
        token = read(self.key, self._task, text)
        if token is None:
            raise Problem("not-admitted", f"send a token that the app has signed in the header {ADMISSION}")
        if not max(self._started, token.expires - LONGEST) <= token.issued <= now + CLOCKS or now >= token.expires:
            raise Problem("not-admitted", "this token has expired, or is from before the server started; get another")
        if tickets > token.tickets:
            raise Problem("not-admitted", f"this token admits {token.tickets} at most")
        if token.id in self._used:
            raise Problem("not-admitted", "this token was used before; get another")
        if len(self._used) >= LARGEST_TABLE:
            self._used = {id: expires for id, expires in self._used.items() if expires > now}
            if len(self._used) >= LARGEST_TABLE:
                raise not_ready("too many tokens were used just now; ask again", 60)
        yield
        self._used[token.id] = token.expires
