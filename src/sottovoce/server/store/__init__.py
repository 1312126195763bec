"""Where the server keeps things: `base` says what a store is, `sqlite` is the embedded one, `postgres` one for many."""

from pathlib import Path

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store.base import Store
from sottovoce.server.store.sqlite import SqliteStore

SHARED = ("postgresql://", "postgres://")


def is_shared(address: str) -> bool:
    """Is this the address of a store that several processes may use?

    >>> is_shared("postgresql://learn@db.example/learn"), is_shared("sqlite:./data"), is_shared("./data")
    (True, False, False)
    """
    return address.startswith(SHARED)


def open_store(address: str | Path) -> Store:
    """The store at an address, or of a data folder; made if there is none."""
    if not is_shared(str(address)):
        return SqliteStore(Path(str(address).removeprefix("sqlite:")))
    try:
        from sottovoce.server.store.postgres.store import PostgresStore
    except ImportError as error:
        raise ConfigurationError("a PostgreSQL store needs: pip install sottovoce[postgres]") from error
    return PostgresStore(str(address))
