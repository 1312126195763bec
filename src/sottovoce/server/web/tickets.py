"""Stateless tickets: nothing is stored for an offer until its report arrives.

A ticket is an id, the time it expires, and the offer's memo, under a keyed hash (HMAC-SHA256, cut to 16 bytes). The
memo cannot be altered and is not secret. The id is the report's id, so a ticket is worth one report. Which task it
belongs to is part of what is hashed.
"""

import hashlib
import hmac
import secrets
from typing import NamedTuple

from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.errors import WireError
from sottovoce.protocol.wire import REPORT_ID_BYTES

SEAL_BYTES = 16
TIME_BYTES = 8


class Ticket(NamedTuple):
    id: bytes
    expires: int
    """Seconds since 1970."""
    memo: bytes


class Seal:
    """Issues and opens the tickets of one task.

    >>> seal = Seal(b"key", "task")
    >>> seal.open(seal.issue(1_000, b"arm 3")).memo
    b'arm 3'
    """

    def __init__(self, key: bytes, task: str) -> None:
        self._hash = hmac.new(key, task.encode() + b"\0", hashlib.sha256)

    def issue(self, expires: int, memo: bytes) -> str:
        body = secrets.token_bytes(REPORT_ID_BYTES) + expires.to_bytes(TIME_BYTES, "big") + memo
        return to_text(body + self._seal_of(body))

    def open(self, text: str) -> Ticket | None:
        """The ticket, or None if it is not one of ours."""
        try:
            sealed = from_text(text)
        except WireError:
            return None
        body, seal = sealed[:-SEAL_BYTES], sealed[-SEAL_BYTES:]
        if len(body) < REPORT_ID_BYTES + TIME_BYTES or not hmac.compare_digest(seal, self._seal_of(body)):
            return None
        time = body[REPORT_ID_BYTES : REPORT_ID_BYTES + TIME_BYTES]
        return Ticket(body[:REPORT_ID_BYTES], int.from_bytes(time, "big"), body[REPORT_ID_BYTES + TIME_BYTES :])

    def _seal_of(self, body: bytes) -> bytes:
        keyed = self._hash.copy()
        keyed.update(body)
        return keyed.digest()[:SEAL_BYTES]
