"""Statements and transactions on a PostgreSQL database, from any thread; those of the learner while it is elected."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg

from sottovoce.server.store.base import Deposed
from sottovoce.server.store.postgres.connecting import pool
from sottovoce.server.store.postgres.migrating import prepare


class Database:
    """Some connections to one database, whose tables are made if there are none."""

    def __init__(self, address: str) -> None:
        self.address, self._pool = address, pool(address)
        self.epoch: int | None = None
        """Of the election that the learner who writes has won."""
        try:
            with self._pool.connection() as connection:
                prepare(connection, address)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._pool.close()

    @contextlib.contextmanager
    def _transaction(self, isolation: psycopg.IsolationLevel | None = None) -> Iterator[Any]:
        """All or nothing: what runs statements, until the context ends."""
        with self._pool.connection() as connection:
            connection.isolation_level = isolation
            try:
                with connection.transaction():
                    yield connection.execute
            finally:
                if isolation and not connection.closed:
                    connection.isolation_level = None

    @contextlib.contextmanager
    def _elected(self, *, durable: bool = False, isolation: psycopg.IsolationLevel | None = None) -> Iterator[Any]:
        """A transaction of the learner. Nobody else is elected before it ends.

        One that is not durable may be lost if the database crashes: what it wrote is computed again from the journal.
        """
        with self._transaction(isolation) as run:
            if not durable:
                run("SET LOCAL synchronous_commit = off")
            mine = "SELECT 1 FROM leader WHERE epoch = %s FOR KEY SHARE"
            if self.epoch is not None and run(mine, (self.epoch,)).fetchone() is None:
                raise Deposed(f"another learner was elected after number {self.epoch}")
            yield run

    def _run(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows that one statement returns."""
        with self._pool.connection() as connection:
            found = connection.execute(statement, values, binary=True)  # pyright: ignore[reportArgumentType]
            return found.fetchall() if found.description else []
