"""Reports as bytes: fixed size, big-endian integers, base64url without padding in JSON."""

import base64
import binascii

from sottovoce.core.errors import WireError


def pack(numbers: list[int], width: int, *, signed: bool = False) -> bytes:
    """Integers of `width` bytes each.

    >>> pack([1, 258], 2).hex()
    '00010102'
    """
    return b"".join(n.to_bytes(width, "big", signed=signed) for n in numbers)


def unpack(payload: bytes, count: int, width: int, *, signed: bool = False) -> list[int]:
    """The inverse of `pack`; refuses any other length.

    >>> unpack(bytes.fromhex("00010102"), 2, 2)
    [1, 258]
    """
    if len(payload) != count * width:
        raise WireError(f"this task's reports have {count * width} bytes, got {len(payload)}")
    return [int.from_bytes(payload[i : i + width], "big", signed=signed) for i in range(0, len(payload), width)]


def to_text(payload: bytes) -> str:
    """base64url without padding.

    >>> to_text(b"whisper")
    'd2hpc3Blcg'
    """
    return base64.urlsafe_b64encode(payload).rstrip(b"=").decode()


def from_text(text: str) -> bytes:
    """The inverse of `to_text`; refuses anything that `to_text` would not have written.

    >>> from_text("d2hpc3Blcg")
    b'whisper'
    """
    try:
        payload = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise WireError("a report must be base64url without padding") from error
    if to_text(payload) != text:
        raise WireError("a report must be base64url without padding")
    return payload
