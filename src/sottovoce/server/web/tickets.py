"""Stateless tickets: nothing is stored for an offer until its report arrives.

A ticket is an id, the time it expires, and the offer's memo, signed with a keyed hash (HMAC-SHA256, cut to 16 bytes).
The memo cannot be altered and is not secret. The id is the report's id, so a ticket is worth one report. Which task it
belongs to is part of what is hashed.
"""

import hashlib
import hmac
import secrets
from typing import NamedTuple

from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.errors import WireError
from sottovoce.protocol.wire import REPORT_ID_BYTES

SIGNATURE_BYTES = 16
TIME_BYTES = 8


class Ticket(NamedTuple):
    id: bytes
    expires: int
    """Seconds since 1970."""
    memo: bytes


class TicketOffice:
    """Issues and reads the tickets of one task.

    >>> office = TicketOffice(b"key", "task")
    >>> office.read(office.issue(1_000, b"arm 3")).memo
    b'arm 3'
    """

    def __init__(self, key: bytes, task: str) -> None:
        self._hash = hmac.new(key, task.encode() + b"\0", hashlib.sha256)

    def issue(self, expires: int, memo: bytes) -> str:
        body = secrets.token_bytes(REPORT_ID_BYTES) + expires.to_bytes(TIME_BYTES, "big") + memo
        return to_text(body + self._signature(body))

    def read(self, text: str) -> Ticket | None:
        """The ticket, or None if it is not one of ours."""
        try:
            sent = from_text(text)
        except WireError:
            return None
        body, signature = sent[:-SIGNATURE_BYTES], sent[-SIGNATURE_BYTES:]
        if len(body) < REPORT_ID_BYTES + TIME_BYTES or not hmac.compare_digest(signature, self._signature(body)):
            return None
        id, rest = body[:REPORT_ID_BYTES], body[REPORT_ID_BYTES:]
        return Ticket(id, int.from_bytes(rest[:TIME_BYTES], "big"), rest[TIME_BYTES:])

    def _signature(self, body: bytes) -> bytes:
        keyed = self._hash.copy()
        keyed.update(body)
        return keyed.digest()[:SIGNATURE_BYTES]
