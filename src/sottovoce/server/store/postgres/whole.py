"""All that a PostgreSQL store keeps, read and written as a whole."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any, LiteralString

import psycopg
from psycopg import Connection, sql

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store.base import StoreFault
from sottovoce.server.store.migrations import check_same
from sottovoce.server.store.postgres.connecting import SETTINGS, first_connection, without_password
from sottovoce.server.store.postgres.journal import make_partition
from sottovoce.server.store.postgres.migrating import NOTHING, format_of, prepare
from sottovoce.server.store.postgres.schema import MIGRATIONS, PLACES
from sottovoce.server.store.postgres.store import PostgresStore
from sottovoce.server.store.whole import TABLES, Last, Row, Table

ORDERED_AT_ONCE = 100_000
PATIENCE_SECONDS = 1.0
WORKING_MEMORY = "64MB"
OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = %s AND pid <> pg_backend_pid()
"""
LEARNING = "SELECT count(*) FROM leader WHERE until > clock_timestamp()"


class PostgresWhole:
    """A `Whole` in a database, through one connection."""

    def __init__(self, name: str, connection: Connection) -> None:
        self.name, self._connection = name, connection
        self._days: set[int] = set()

    def _run(self, statement: Any, values: Sequence[Any] = ()) -> tuple[Any, ...]:
        """The first row that a statement returns."""
        found = self._connection.execute(statement, values)
        return (found.fetchone() if found.description else None) or ()

    def count(self, table: Table) -> int:
        return self._run(f"SELECT count(*) FROM {table.name}")[0]

    def rows(self, table: Table) -> Iterator[list[Row]]:
        key = table.columns[: table.key]
        order = ", ".join(f'{name} COLLATE "C"' if name in table.texts else name for name in key)
        wanted: Any = f"SELECT {', '.join(table.columns)} FROM {table.source or table.name} ORDER BY {order}"
        with self._connection.cursor("kept", withhold=False) as cursor:
            cursor.execute(wanted, binary=True)
            while rows := cursor.fetchmany(table.at_once):
                yield rows

    def add(self, table: Table, rows: Sequence[Row]) -> None:
        if table.name == "journal":
            self._make_days({row[0] // PLACES for row in rows})
        types = self._types(table)
        wanted: Any = f"COPY {table.name} ({', '.join(table.columns)}) FROM STDIN (FORMAT BINARY)"
        with self._connection.cursor() as cursor, cursor.copy(wanted) as copying:
            copying.set_types(types)
            for row in rows:
                copying.write_row(row)

    def _types(self, table: Table) -> list[int]:
        known = "SELECT attname, atttypid FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
        types = dict(self._connection.execute(known, (table.name,)).fetchall())
        return [types[name] for name in table.columns]

    def _make_days(self, days: set[int]) -> None:
        for day in sorted(days - self._days):
            make_partition(self._connection.execute, day)
        self._days |= days

    def last(self) -> Last:
        given: Any = sql.SQL("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {}")
        (place,) = self._run("SELECT last FROM places")
        return Last(place, self._run(given.format(self._sequence("actions")))[0])

    def go_on_after(self, last: Last) -> None:
        self._run("UPDATE places SET last = %s", (last.place,))
        (tasks,) = self._run("SELECT coalesce(max(number), 0) FROM tasks")
        for table, number in (("tasks", tasks), ("actions", last.action)):
            if number:
                self._run("SELECT setval(pg_get_serial_sequence(%s, 'number'), %s)", (table, number))

    def _sequence(self, table: str) -> sql.Identifier:
        (name,) = self._run("SELECT pg_get_serial_sequence(%s, 'number')", (table,))
        return sql.Identifier(*name.split("."))


@contextlib.contextmanager
def reading(address: str) -> Iterator[PostgresWhole]:
    """A store that is there, as it is at one moment. Nobody can write to it meanwhile: who tries is told to come back.

    Reports that the learner has not come to are given their places first, as it would do.
    """
    with _alone(address) as connection:
        if format_of(connection) == NOTHING:
            raise ConfigurationError(f"{without_password(address)} has no store of Sottovoce")
        _check_usable(connection, address)
        with contextlib.closing(PostgresStore(address)) as store:
            while store.order(ORDERED_AT_ONCE):
                pass
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with _locked(connection, "SHARE"):
            yield PostgresWhole(without_password(address), connection)


@contextlib.contextmanager
def writing(address: str) -> Iterator[PostgresWhole]:
    """A store to be filled, made if there is none; all or nothing."""
    with _alone(address) as connection:
        prepare(connection, address)
        _check_usable(connection, address)
        with _locked(connection, "ACCESS EXCLUSIVE"):
            yield PostgresWhole(without_password(address), connection)


@contextlib.contextmanager
def _alone(address: str) -> Iterator[Connection]:
    """A connection that may take its time; refused while a server uses the database."""
    with _told(address), contextlib.closing(first_connection(address)) as connection:
        for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
            connection.execute("SELECT set_config(%s, '0', false)", (name,))
        connection.execute("SELECT set_config('work_mem', %s, false)", (WORKING_MEMORY,))
        use = f"servers, or other commands, use {without_password(address)}; stop them on all hosts, and try again"
        _check_none(connection, OTHERS, (SETTINGS["application_name"],), use)
        yield connection


def _check_none(connection: Connection, counted: LiteralString, values: Sequence[str], otherwise: str) -> None:
    """Refuse where there are some; those that have just ended are gone in a moment."""
    end = time.monotonic() + PATIENCE_SECONDS
    while connection.execute(counted, values).fetchone() != (0,):
        if time.monotonic() > end:
            raise ConfigurationError(otherwise)
        time.sleep(PATIENCE_SECONDS / 20)


@contextlib.contextmanager
def _told(address: str) -> Iterator[None]:
    try:
        yield
    except (psycopg.Error, StoreFault) as error:
        raise ConfigurationError(f"cannot use {without_password(address)}: {error}; nothing was copied") from error


def _check_usable(connection: Connection, address: str) -> None:
    check_same(without_password(address), format_of(connection), MIGRATIONS)
    learns = f"a learner of {without_password(address)} was elected some seconds ago; stop all servers, and try again"
    _check_none(connection, LEARNING, (), learns)


@contextlib.contextmanager
def _locked(connection: Connection, mode: str) -> Iterator[None]:
    names = ", ".join([*(table.name for table in TABLES), "places", "groups", "inbox"])
    with connection.transaction():
        connection.execute(f"LOCK TABLE {names} IN {mode} MODE")  # pyright: ignore[reportArgumentType, reportCallIssue]
        yield
