"""Where the server keeps things: `base` says what a store is, `sqlite` is the embedded one.

A store has an address: `sqlite:FOLDER`, or the folder alone. Another kind of store is one more kind of address here.
"""

import os
import re
from pathlib import Path

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store import sqlite_migrations
from sottovoce.server.store.base import Store
from sottovoce.server.store.migrations import Part
from sottovoce.server.store.sqlite import SqliteStore

EMBEDDED = "sqlite:"
OTHER = re.compile(r"[a-z][a-z0-9+.-]+://")


def open_store(address: str | Path) -> Store:
    """The store at this address; a folder is made if there is none."""
    return SqliteStore(folder_of(address))


def parts_of(address: str | Path) -> list[Part]:
    """The databases of a store, and which migrations each still needs. Nothing is changed."""
    return sqlite_migrations.parts_of(folder_of(address))


def migrate(address: str | Path) -> None:
    """Apply the migrations that are missing; nobody may be using an embedded store meanwhile."""
    sqlite_migrations.migrate(folder_of(address))


def folder_of(address: str | Path) -> Path:
    """The folder of an embedded store.

    >>> folder_of("sqlite:./data") == folder_of("data") == folder_of(Path("data"))
    True
    """
    written = os.fspath(address)
    if OTHER.match(written):
        raise ConfigurationError(f"a store is sqlite:FOLDER, or the folder alone, got {written}")
    return Path(written.removeprefix(EMBEDDED))
