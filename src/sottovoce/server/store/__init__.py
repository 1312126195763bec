"""Where the server keeps things: `base` says what a store is, `sqlite` is the embedded one."""

from pathlib import Path

from sottovoce.server.store.base import Store
from sottovoce.server.store.sqlite import SqliteStore


def open_store(folder: Path) -> Store:
    """The store of a data folder; made if there is none."""
    return SqliteStore(folder)
