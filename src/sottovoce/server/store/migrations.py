"""Numbered migrations: how a database that an older version wrote becomes one of this version. There is no way back.

A database carries two numbers: its format, and the oldest format whose programs may still use it. A migration that only
adds things leaves the second number as it is, so older servers go on beside newer ones until the last is replaced. A
new database is an empty one to which all migrations are applied, the first of which makes the first tables.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sottovoce.protocol.errors import ConfigurationError


class Migration(NamedTuple):
    number: int
    """The format of the database after it."""
    oldest: int
    """Programs of this format and of later ones may use the database after it."""
    change: str
    """What it changes, in one sentence."""
    statements: Sequence[str]


class Format(NamedTuple):
    """What a database carries."""

    number: int
    oldest: int
    """Programs that know this format, or a later one, may use it."""


class Part(NamedTuple):
    """One database of a store, and what has to be done to it."""

    name: str
    format: Format
    missing: Sequence[Migration]


def newest(migrations: Sequence[Migration]) -> Format:
    """The format after all of these.

    >>> newest([Migration(6, 6, "The first tables.", []), Migration(7, 6, "A table for notes.", [])])
    Format(number=7, oldest=6)
    """
    return Format(migrations[-1].number, max(one.oldest for one in migrations))


def missing(found: Format, migrations: Sequence[Migration]) -> list[Migration]:
    """What is to be applied to a database of this format, in order.

    >>> known = [Migration(number, 6, "", []) for number in (6, 7, 8)]
    >>> [one.number for one in missing(Format(6, 6), known)]
    [7, 8]
    """
    return [one for one in migrations if one.number > found.number]


def check_known(name: str, found: Format, migrations: Sequence[Migration]) -> None:
    """Refuse a database from before the first of these, or one that this version can no longer use."""
    known = newest(migrations).number
    if found.number < migrations[0].number:
        writer = "Sottovoce 0.1" if found.number == 0 else f"another version of Sottovoce (format {found.number})"
        raise ConfigurationError(
            f"{name} was written by {writer}, which keeps its data in another way; choose another --data folder, or go "
            "on with the version that wrote it"
        )
    if found.oldest > known:
        raise ConfigurationError(
            f"{name} has format {found.number}, which programs that know format {found.oldest} or a later one can use; "
            f"this version knows format {known}: start the newer version of Sottovoce"
        )


def check_usable(name: str, found: Format, migrations: Sequence[Migration], store: str) -> None:
    """Refuse also one that has to be migrated first, which nobody does without being told."""
    check_known(name, found, migrations)
    if missing(found, migrations):
        raise ConfigurationError(
            f"{name} has format {found.number}, and this version needs format {newest(migrations).number}; make a copy "
            f"of it, and run `sottovoce store migrate {store}` (with --dry-run it says what would change)"
        )


def check_same(name: str, found: Format, migrations: Sequence[Migration]) -> None:
    """Refuse also one of a later format, of which this version would copy only what it knows."""
    check_usable(name, found, migrations, name)
    if found.number != newest(migrations).number:
        raise ConfigurationError(
            f"{name} has format {found.number}, and this version knows format {newest(migrations).number}; use the "
            "newer version of Sottovoce"
        )
