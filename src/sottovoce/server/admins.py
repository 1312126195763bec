"""Who may manage tasks: admin tokens, each with a name, a role and perhaps a last day.

One token may come from the environment. Others are in a file, which has the SHA-256 of each and not the token. The file
is read again when it changes, so tokens are rotated while the server runs; one that cannot be used changes nothing.
"""

import datetime
import hashlib
import hmac
import logging
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from sottovoce.catalogue.toml_file import parsed
from sottovoce.protocol.contract import NAME
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.protocol.strict import Strict
from sottovoce.server.logs import log

Role = Literal["read", "operate", "shuffle"]
"""`read` looks; `shuffle` sends batches of reports, and may do nothing else; `operate` does everything."""
ENVIRONMENT = "environment"
"""The name of the token that comes from the environment."""
LOOK_SECONDS = 1.0
"""How often the file is looked at, at most."""
OTHERS = 0o027
"""Bits of a file's mode that let others read it, or its group change it."""
SHA256 = re.compile(r"[0-9a-f]{64}")


class Admin(NamedTuple):
    """One token, and what it is for."""

    name: str
    role: Role
    sha256: str
    expires: datetime.date | None = None
    """Its last day, by UTC."""

    def allows(self, role: Role) -> bool:
        """Is this role enough?

        >>> Admin("robot", "read", "").allows("operate"), Admin("me", "operate", "").allows("read")
        (False, True)
        """
        return self.role in (role, "operate")

    def expired(self, now: float) -> bool:
        return self.expires is not None and datetime.datetime.fromtimestamp(now, datetime.UTC).date() > self.expires


class TokenEntry(Strict, frozen=True, kw_only=True):
    """`[tokens.NAME]` in a file of tokens."""

    role: Role
    sha256: str
    expires: datetime.date | None = None


class TokenFile(Strict, frozen=True, kw_only=True):
    tokens: dict[str, TokenEntry]


class Admins:
    """The tokens that a server takes now."""

    def __init__(self, token: str = "", file: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._own = [Admin(ENVIRONMENT, "operate", digest_of_token(token))] if token else []
        self._file, self._clock = file, clock
        self._stamp, self._looked = _stamp(file), clock()
        self._known = self._own + (admins_in(file) if file else [])

    @property
    def none(self) -> bool:
        """Can nobody manage tasks?"""
        return not self._known

    def find(self, token: str) -> Admin | None:
        """Whose token this is; every known one is compared, so that the time says nothing. It may have expired."""
        if self._file and not 0 <= self._clock() - self._looked < LOOK_SECONDS:
            self.look()
        given, found = digest_of_token(token), None
        for admin in self._known:
            if hmac.compare_digest(admin.sha256, given):
                found = admin
        return found

    def look(self) -> None:
        """Read the file again if it has changed; if it cannot be used, what was known stays, and the log says so."""
        self._looked, stamp = self._clock(), _stamp(self._file)
        if self._file is None or stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._known = self._own + admins_in(self._file)
        except ConfigurationError as error:
            log("the tokens stay as they were", logging.ERROR, error=str(error))
        else:
            log("tokens read again", names=[admin.name for admin in self._known])


def admins_in(path: Path) -> list[Admin]:
    """The tokens of a file; refuses one that others can read, or that cannot be used."""
    try:
        mode, text = path.stat().st_mode & 0o777, path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"cannot read the tokens in {path}: {error.strerror}") from error
    if mode & OTHERS:
        raise ConfigurationError(f"{path} can be used by others (mode {mode:03o}); say `chmod 600 {path}`")
    entries = parsed(text, TokenFile, "a file of tokens", str(path)).tokens
    found = [Admin(name, entry.role, entry.sha256, entry.expires) for name, entry in entries.items()]
    _check(found, path)
    return found


def digest_of_token(token: str) -> str:
    """The SHA-256 of a token, as it stands in the file.

    >>> digest_of_token("a-long-random-one")[:8]
    '4c2dba5f'
    """
    return hashlib.sha256(token.encode()).hexdigest()


def check_name(name: str) -> None:
    if not NAME.fullmatch(name) or name == ENVIRONMENT:
        raise ConfigurationError(
            f"the name of a token is lower-case letters, digits and dashes, and not {ENVIRONMENT!r}; got {name!r}"
        )


def _check(admins: Sequence[Admin], path: Path) -> None:
    seen: dict[str, str] = {}
    for admin in admins:
        check_name(admin.name)
        if not SHA256.fullmatch(admin.sha256) or admin.sha256 == digest_of_token(""):
            raise ConfigurationError(f"{path}: sha256 of {admin.name} is that of a token: 64 digits from 0 to f")
        if other := seen.get(admin.sha256):
            raise ConfigurationError(f"{path}: {other} and {admin.name} are the same token; each needs its own")
        seen[admin.sha256] = admin.name


def _stamp(path: Path | None) -> tuple[int, ...]:
    """Other numbers mean that the file has changed; none where it cannot be found."""
    try:
        found = path.stat() if path else None
    except OSError:
        return ()
    return (found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode) if found else ()
