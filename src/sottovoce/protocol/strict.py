"""Data from elsewhere is decoded strictly: what is not declared is refused."""

from typing import TypeVar

import msgspec

from sottovoce.protocol.errors import WireError

Kind = TypeVar("Kind")


class Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Plain data whose fields are all declared."""


def decoded(body: bytes, kind: type[Kind], name: str) -> Kind:
    """JSON as this type, numbers also where they are decimal strings; `name` is what it should be, as in "a contract".

    >>> decoded(b'["0.5"]', list[float], "a point")
    [0.5]
    """
    try:
        return msgspec.json.decode(body, type=kind, strict=False)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"not {name}: {error}") from error
