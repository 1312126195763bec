"""Where the server keeps things: `base` says what a store is, `sqlite` is the embedded one, `postgres` one for many.

A store has an address: `sqlite:FOLDER`, or the folder alone, or `postgresql://USER@HOST/DATABASE`.
"""

import os
import re
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType
from typing import Any

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store import sqlite_migrations, sqlite_whole
from sottovoce.server.store.base import Store
from sottovoce.server.store.migrations import Part
from sottovoce.server.store.sqlite import SqliteStore
from sottovoce.server.store.whole import Whole

EMBEDDED, SHARED = "sqlite:", ("postgresql://", "postgres://")
OTHER = re.compile(r"[a-z][a-z0-9+.-]+://")


def is_shared(address: str | Path) -> bool:
    """Is this the address of a store that several processes may use?

    >>> is_shared("postgresql://learn@db.example/learn"), is_shared("sqlite:./data"), is_shared("./data")
    (True, False, False)
    """
    return os.fspath(address).startswith(SHARED)


def open_store(address: str | Path, *, make: bool = True) -> Store:
    """The store at this address; made if there is nothing, for an embedded one only if it may be."""
    if is_shared(address):
        _need_driver()
        from sottovoce.server.store.postgres.store import PostgresStore

        return PostgresStore(str(address))
    return SqliteStore(folder_of(address), make=make)


def parts_of(address: str | Path) -> list[Part]:
    """The databases of a store, and which migrations each still needs. Nothing is changed."""
    module, place = _migrations(address)
    return module.parts_of(place)


def migrate(address: str | Path) -> None:
    """Apply the migrations that are missing; nobody may be using an embedded store meanwhile."""
    module, place = _migrations(address)
    module.migrate(place)


def reading(address: str | Path) -> AbstractContextManager[Whole]:
    """All of a store that is there and that no server uses."""
    module, place = _wholes(address)
    return module.reading(place)


def writing(address: str | Path) -> AbstractContextManager[Whole]:
    """A store to be filled, made if there is none; what fails leaves it as it was."""
    module, place = _wholes(address)
    return module.writing(place)


def folder_of(address: str | Path) -> Path:
    """The folder of an embedded store.

    >>> folder_of("sqlite:./data") == folder_of("data") == folder_of(Path("data"))
    True
    """
    written = os.fspath(address)
    if OTHER.match(written):
        raise ConfigurationError(f"a store is sqlite:FOLDER, the folder alone, or postgresql://…, got {written}")
    return Path(written.removeprefix(EMBEDDED))


def _migrations(address: str | Path) -> tuple[ModuleType, Any]:
    if not is_shared(address):
        return sqlite_migrations, folder_of(address)
    _need_driver()
    from sottovoce.server.store.postgres import migrating

    return migrating, str(address)


def _wholes(address: str | Path) -> tuple[ModuleType, Any]:
    if not is_shared(address):
        return sqlite_whole, folder_of(address)
    _need_driver()
    from sottovoce.server.store.postgres import whole

    return whole, str(address)


def _need_driver() -> None:
    try:
        import psycopg_pool  # noqa: F401
    except ImportError as error:
        raise ConfigurationError("a PostgreSQL store needs: pip install 'sottovoce[postgres]'") from error
