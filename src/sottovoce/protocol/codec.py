"""Reports as bytes: fixed size, big-endian integers, base64url without padding in JSON. Contracts without floats.

Numbers in a contract: whole numbers below 2^53 as they are, every other number as a decimal string. Languages disagree
on how to write 1.0 and on how to read 0.1 into fewer bits; none of them changes a string. Read as an IEEE double, the
string gives back the very number that was written.
"""

import binascii
import re
from collections.abc import Mapping
from typing import Any

from sottovoce.protocol.errors import WireError

DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[-+]?[0-9]+)?")
_TO_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_+/=", b"+/!!!")
"""What is no base64url becomes no base64."""
_PADDING = (b"", b"===", b"==", b"=")
_LAST = ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", "", "AQgw", "AEIMQUYcgkosw048")
"""How a text may end, by its length modulo four: all bits that belong to no byte are 0."""


def pack(numbers: list[int], width: int, *, signed: bool = False) -> bytes:
    """Integers of `width` bytes each.

    >>> pack([1, 258], 2).hex()
    '00010102'
    """
    return b"".join(n.to_bytes(width, "big", signed=signed) for n in numbers)


def to_text(payload: bytes) -> str:
    """base64url without padding.

    >>> to_text(b"report")
    'cmVwb3J0'
    """
    return binascii.b2a_base64(payload, newline=False).translate(_TO_URL, b"=").decode()


def from_text(text: str) -> bytes:
    """The inverse of `to_text`; refuses anything that `to_text` would not have written.

    >>> from_text("cmVwb3J0")
    b'report'
    """
    rest = len(text) % 4
    try:
        payload = binascii.a2b_base64(text.encode("ascii").translate(_FROM_URL) + _PADDING[rest], strict_mode=True)
    except ValueError as error:
        raise WireError("a report must be base64url without padding") from error
    if text[-1:] not in _LAST[rest]:
        raise WireError("a report must be base64url without padding")
    return payload


def to_decimals(value: Any) -> Any:
    """The same data with every float as a decimal string.

    >>> to_decimals({"low": 0.0, "levels": 2, "scales": (0.5, 1e-05)})
    {'low': '0.0', 'levels': 2, 'scales': ['0.5', '1e-05']}
    """
    match value:
        case float():
            return repr(value)
        case Mapping():
            return {name: to_decimals(one) for name, one in value.items()}
        case list() | tuple():
            return [to_decimals(one) for one in value]
        case _:
            return value


def from_decimals(value: Any) -> Any:
    """The inverse of `to_decimals`; a string that is no decimal number stays a word.

    >>> from_decimals({"low": "0.0", "levels": 2, "scales": ["0.5", "1e-05"], "kind": "interval"})
    {'low': 0.0, 'levels': 2, 'scales': (0.5, 1e-05), 'kind': 'interval'}
    """
    match value:
        case str():
            return float(value) if DECIMAL.fullmatch(value) else value
        case Mapping():
            return {name: from_decimals(one) for name, one in value.items()}
        case list() | tuple():
            return tuple(from_decimals(one) for one in value)
        case _:
            return value
