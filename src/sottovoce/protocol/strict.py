"""Data from elsewhere is decoded strictly: what is not declared is refused."""

import msgspec


class Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Data from elsewhere: what is not declared is refused."""
