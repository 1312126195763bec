"""Admission tokens: the app's own server signs one for a person whom it knows, and the device shows it once.

The app's server and the Sottovoce server share a key of 32 bytes for each task. A token is, in this order: a random id
(16 bytes), when it was issued and when it expires (8 bytes each, seconds since 1970), how many tickets it admits (2
bytes), and HMAC-SHA256 with that key of "sottovoce-admission", a zero byte, the task's id, a zero byte and the bytes
before. Integers are big-endian; the whole travels as base64url without padding.
"""

import hmac
import secrets
import struct
import time
from typing import NamedTuple

from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.errors import ConfigurationError, WireError

ID_BYTES = 16
LAYOUT = struct.Struct(f">{ID_BYTES}sQQH")
MOST_TICKETS = 2**16 - 1
SECONDS = 600
"""How long a token can be used when the app does not say."""
LONGEST = 86400


class Token(NamedTuple):
    id: bytes
    issued: int
    expires: int
    tickets: int
    """How many it admits, all in one request."""


def sign(key: str, task: str, tickets: int = 1, *, seconds: int = SECONDS, now: float | None = None) -> str:
    """A token for so many tickets of a task, with the key that `sottovoce task admission-key` prints.

    >>> token = sign(to_text(bytes(32)), "headline", now=1_700_000_000)
    >>> read(bytes(32), "headline", token).expires, read(bytes(32), "another", token)
    (1700000600, None)
    """
    if not 1 <= tickets <= MOST_TICKETS:
        raise ConfigurationError(f"a token admits 1 to {MOST_TICKETS:,} tickets, got {tickets}")
    if not 1 <= seconds <= LONGEST:
        raise ConfigurationError(f"a token lasts 1 to {LONGEST:,} seconds, got {seconds}")
    issued = int(time.time() if now is None else now)
    body = LAYOUT.pack(secrets.token_bytes(ID_BYTES), issued, issued + seconds, tickets)
    return to_text(body + _signature(from_text(key), task, body))


def read(key: bytes, task: str, text: str) -> Token | None:
    """The token, or None if it was not signed with this key for this task."""
    try:
        sent = from_text(text)
    except WireError:
        return None
    body, signature = sent[: LAYOUT.size], sent[LAYOUT.size :]
    if len(body) < LAYOUT.size or not hmac.compare_digest(signature, _signature(key, task, body)):
        return None
    return Token(*LAYOUT.unpack(body))


def _signature(key: bytes, task: str, body: bytes) -> bytes:
    return hmac.digest(key, b"sottovoce-admission\0" + task.encode() + b"\0" + body, "sha256")
