"""Admission tokens as the server takes them: each once, in one request. The store remembers those that were used."""

import hmac
from collections.abc import Awaitable, Callable

from sottovoce.admission import LONGEST, Token, read
from sottovoce.protocol.wire import ADMISSION
from sottovoce.server.problems import Problem

CLOCKS = 60
"""Seconds by which the clocks of two servers may differ."""


class TokenDesk:
    """Takes the tokens of one task."""

    def __init__(self, secret: bytes, task: str, admit: Callable[[bytes, int, int], Awaitable[bool]]) -> None:
        """`admit(id, expires, now)` is the store's, for this task."""
        self.key = hmac.digest(secret, task.encode(), "sha256")
        """Which the app's server signs with."""
        self._task, self._admit = task, admit

    def read(self, text: str, tickets: int, now: float) -> Token:
        """The token, if it admits so many now; it is not used by this."""
        token = read(self.key, self._task, text)
        if token is None:
            raise Problem("not-admitted", f"send a token that the app has signed in the header {ADMISSION}")
        if not token.expires - LONGEST <= token.issued <= now + CLOCKS or now >= token.expires:
            raise Problem("not-admitted", "this token has expired, or its times are wrong; get another")
        if tickets > token.tickets:
            raise Problem("not-admitted", f"this token admits {token.tickets} at most")
        return token

    async def use(self, token: Token, now: float) -> None:
        """Once; of several requests at the same time one succeeds."""
        if not await self._admit(token.id, token.expires, int(now)):
            raise Problem("not-admitted", "this token was used before; get another")
