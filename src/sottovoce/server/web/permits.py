"""Stateless permits and tickets: nothing is stored for one until its report arrives.

A permit is the time it expires, the memo of the offer (for a ticket), and a keyed hash of these and of the commitment
(HMAC-SHA256, cut to 16 bytes). The memo cannot be altered and is not secret. Which task it belongs to is part of what
is hashed.
"""

import hashlib
import hmac
from collections.abc import Sequence
from typing import NamedTuple

from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.errors import WireError
from sottovoce.protocol.permits import COMMITMENT_BYTES, NONCE_BYTES, coin_of, commitment_of, report_id
from sottovoce.server.problems import Problem

SIGNATURE_BYTES = 16
TIME_BYTES = 5


class Shown(NamedTuple):
    """A permit that came back with its nonce."""

    id: bytes
    """Of the report."""
    expires: int
    """Seconds since 1970."""
    memo: bytes
    coin: bytes


class PermitOffice:
    """Issues and reads the permits of one task.

    >>> office, nonce = PermitOffice(b"key", "task"), bytes(12)
    >>> permit = office.issue(commitment_of(nonce), 1_000, b"arm 3")
    >>> office.read(permit, to_text(nonce)).memo, office.read(permit, to_text(bytes(11) + b"x"))
    (b'arm 3', None)
    """

    def __init__(self, key: bytes, task: str) -> None:
        self._hash = hmac.new(key, task.encode() + b"\0", hashlib.sha256)

    def issue(self, commitment: bytes, expires: int, memo: bytes = b"") -> str:
        body = expires.to_bytes(TIME_BYTES, "big") + memo
        return to_text(body + self._signature(commitment, body))

    def read(self, permit: str, nonce: str) -> Shown | None:
        """The permit, or None if it is not one of ours for this nonce."""
        try:
            sent, revealed = from_text(permit), from_text(nonce)
        except WireError:
            return None
        body, signature, commitment = sent[:-SIGNATURE_BYTES], sent[-SIGNATURE_BYTES:], commitment_of(revealed)
        if len(body) < TIME_BYTES or len(revealed) != NONCE_BYTES:
            return None
        if not hmac.compare_digest(signature, self._signature(commitment, body)):
            return None
        expires = int.from_bytes(body[:TIME_BYTES], "big")
        return Shown(report_id(commitment), expires, body[TIME_BYTES:], coin_of(sent, revealed))

    def _signature(self, commitment: bytes, body: bytes) -> bytes:
        keyed = self._hash.copy()
        keyed.update(commitment + body)
        return keyed.digest()[:SIGNATURE_BYTES]


def committed(commitments: Sequence[str]) -> list[bytes]:
    """The hashes that these are, or a problem.

    >>> [len(one) for one in committed(["A" * 43])]
    [32]
    """
    try:
        found = [from_text(one) for one in commitments]
    except WireError as error:
        raise Problem("bad-request", "a commitment must be base64url without padding") from error
    if any(len(one) != COMMITMENT_BYTES for one in found):
        raise Problem("bad-request", f"a commitment has {COMMITMENT_BYTES} bytes")
    return found
