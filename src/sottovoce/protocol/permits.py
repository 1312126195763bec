"""Permits: what a report answers, and the coin that a device and its server toss together.

A device draws a nonce and asks with the SHA-256 of it, the commitment. The server answers with a permit: bytes that it
signs together with the commitment. The report reveals the nonce, and its coin is a hash of both. Nobody chose the coin:
the device was bound to its nonce before it saw the permit, and the server signed before it could know the nonce. The
commitment names the report, so a permit is worth one. A ticket is a permit that names an action too.
"""

import hashlib

NONCE_BYTES = 12
"""Nobody finds a nonce from its hash."""
COMMITMENT_BYTES = 32
REPORT_ID_BYTES = 16


def commitment_of(nonce: bytes) -> bytes:
    """What a device asks for a permit with.

    >>> commitment_of(bytes(12)).hex()[:16]
    '15ec7bf0b50732b4'
    """
    return hashlib.sha256(nonce).digest()


def report_id(commitment: bytes) -> bytes:
    """The name of the report in the journal, where there is one of each."""
    return commitment[:REPORT_ID_BYTES]


def coin_of(permit: bytes, nonce: bytes) -> bytes:
    """The public randomness of the report; a mechanism takes as many bytes of it as it needs.

    >>> coin_of(b"permit", bytes(12)) == hashlib.sha256(b"permit" + bytes(12)).digest()
    True
    """
    return hashlib.sha256(permit + nonce).digest()
