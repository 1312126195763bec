"""Reports as bytes: fixed size, big-endian integers, base64url without padding in JSON."""

import binascii

from sottovoce.protocol.errors import WireError


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
    return binascii.b2a_base64(payload, newline=False).translate(_TO_URL, b"=").decode()


def from_text(text: str) -> bytes:
    """The inverse of `to_text`; refuses anything that `to_text` would not have written.

    >>> from_text("d2hpc3Blcg")
    b'whisper'
    """
    try:
        payload = binascii.a2b_base64(text.encode("ascii").translate(_FROM_URL) + b"=" * (-len(text) % 4))
    except ValueError as error:
        raise WireError("a report must be base64url without padding") from error
    if to_text(payload) != text:
        raise WireError("a report must be base64url without padding")
    return payload


_TO_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_", b"+/")
