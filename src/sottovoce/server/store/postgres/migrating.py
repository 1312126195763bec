"""How a PostgreSQL database is brought up to date: all in one transaction, while one process does it.

Servers may go on beside a migration that only adds things. What it changes is locked for as long as it takes.
"""

from collections.abc import Sequence

from psycopg import Connection
from psycopg.sql import SQL

from sottovoce.server.store.migrations import Format, Migration, Part, check_known, check_usable, missing, newest
from sottovoce.server.store.postgres.connecting import first_connection, without_password
from sottovoce.server.store.postgres.schema import MIGRATIONS

NOTHING = Format(0, 0)
ALONE = "SELECT pg_advisory_xact_lock(hashtext('sottovoce'))"
MADE = "SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'format'"
"""Is read from the table itself. `to_regclass` may answer from a cache that is older than the wait for the lock."""


def prepare(connection: Connection, address: str) -> None:
    """Make the tables if there are none; a database of another format is refused by name."""
    if format_of(connection) == NOTHING:
        with connection.transaction():
            connection.execute(ALONE)
            if format_of(connection) == NOTHING:  # still: another process may just have made it
                _apply(connection, MIGRATIONS)
    check_usable(without_password(address), format_of(connection), MIGRATIONS, "postgresql://…")


def parts_of(address: str) -> list[Part]:
    """The database and what has to be done to it; nothing is changed."""
    with first_connection(address) as connection:
        found = format_of(connection)
    if found != NOTHING:
        check_known(without_password(address), found, MIGRATIONS)
    return [Part(without_password(address), found, missing(found, MIGRATIONS))]


def migrate(address: str) -> None:
    """Apply what is missing, all or nothing."""
    with first_connection(address) as connection, connection.transaction():
        connection.execute(ALONE)
        connection.execute("SET LOCAL statement_timeout = 0")
        found = format_of(connection)
        if found != NOTHING:
            check_known(without_password(address), found, MIGRATIONS)
        if some := missing(found, MIGRATIONS):
            _apply(connection, some)


def format_of(connection: Connection) -> Format:
    if connection.execute(MADE).fetchone() is None:
        return NOTHING
    return Format._make(connection.execute("SELECT number, oldest FROM format").fetchone() or NOTHING)


def _apply(connection: Connection, migrations: Sequence[Migration]) -> None:
    for migration in migrations:
        for statement in migration.statements:
            connection.execute(SQL(statement))  # pyright: ignore[reportArgumentType]
    connection.execute("UPDATE format SET number = %s, oldest = %s", newest(MIGRATIONS))
