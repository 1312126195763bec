"""Connections to PostgreSQL: opened in one way, given up in time, and faults told by one name."""

import logging
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from sottovoce.protocol.errors import ConfigurationError

SETTINGS = {
    "application_name": "sottovoce",
    "synchronous_commit": "on",
    "statement_timeout": "7s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "3s",
}
"""Of every connection. A process that was stopped within a transaction loses it, so that it holds nobody up."""
REACHING: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""After so many seconds, or milliseconds, a host that is gone is given up."""
WAIT_SECONDS = 5.0
"""How long to wait for a connection; then it is a fault."""
LARGEST_POOL = 4

PASSING = ("08", "25006", "40", "53", "55", "57", "58")
"""How SQL states begin where the fault is of the database or of somebody else who uses it: no connection, read only,
deadlock, out of space or memory, locked, shut down or cancelled, an error of its disk."""


def passing(error: psycopg.Error) -> str:
    """What to say where the fault is not of whoever asked; else nothing.

    >>> passing(psycopg.errors.DiskFull("no space left")), passing(psycopg.errors.SyntaxError("what?"))
    ('no space left (DiskFull)', '')
    """
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | PoolTimeout) or (
        error.sqlstate or ""
    ).startswith(PASSING):
        return f"{str(error).splitlines()[0] if str(error) else 'no answer'} ({type(error).__name__})"
    return ""


def pool(address: str) -> ConnectionPool:
    """Connections to this database, opened again when they break. Refuses an address where nobody answers."""
    first_connection(address).close()
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # faults are logged by whoever meets them
    return ConnectionPool(
        address,
        min_size=1,
        max_size=LARGEST_POOL,
        timeout=WAIT_SECONDS,
        reconnect_timeout=WAIT_SECONDS,
        kwargs=REACHING | {"autocommit": True},
        configure=configure,
        open=True,
    )


def connect(address: str) -> Connection:
    """One connection of its own."""
    connection = psycopg.connect(address, autocommit=True, **REACHING)
    configure(connection)
    return connection


def first_connection(address: str) -> Connection:
    """The same; refuses an address where nobody answers."""
    try:
        return connect(address)
    except psycopg.Error as error:
        raise ConfigurationError(f"cannot use the store {without_password(address)}: {error}") from error


def configure(connection: Connection) -> None:
    names, values = zip(*SETTINGS.items(), strict=True)
    settings = "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[]) AS given (name, value)"
    connection.execute(settings, (list(names), list(values)))


def without_password(address: str) -> str:
    """The address as it may be logged.

    >>> without_password("postgresql://ann:secret@db.example:5433/learn?sslmode=require")
    'postgresql://db.example:5433/learn'
    """
    try:
        parts = conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        return "postgresql://…"
    host, port, name = (parts.get(key, "") for key in ("host", "port", "dbname"))
    return f"postgresql://{host or ''}{f':{port}' if port else ''}/{name or ''}"
