"""A database in which every report was a row of the inbox: refused by name, and migrated beside servers that run."""

import contextlib

import psycopg
import pytest

from postgres import Postgres
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store import migrate
from sottovoce.server.store.base import Journalled, Tally
from sottovoce.server.store.postgres import migrating
from sottovoce.server.store.postgres.store import PostgresStore

APPEND_7 = """
WITH given AS (
  SELECT * FROM unnest(%b::integer[], %b::bytea[], %b::integer[], %b::integer[], %b::bytea[], %b::bytea[])
  WITH ORDINALITY AS given (task, id, day, gate, context, payload, number)
), fresh AS (
  INSERT INTO ids SELECT task, id, day FROM given ORDER BY number ON CONFLICT DO NOTHING RETURNING task, id
), kept AS (
  INSERT INTO inbox (task, id, day, gate, context, payload, hour)
  SELECT task, id, day, gate, context, payload, %s FROM given JOIN fresh USING (task, id) ORDER BY number
)
SELECT task, id FROM fresh
"""
"""As servers of format 7 wrote reports."""


def some(*numbers: int) -> list[Journalled]:
    return [Journalled(1, number.to_bytes(16, "big"), 5, 0, b"context", b"payload") for number in numbers]


def append_7(address: str, reports: list[Journalled], hour: int) -> int:
    """How many were new."""
    with psycopg.connect(address, autocommit=True) as database:
        return len(database.execute(APPEND_7, (*map(list, zip(*reports, strict=True)), hour)).fetchall())


@pytest.fixture
def database_7(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    """With a task, and with reports that no learner of that version has come to."""
    address = postgres.new()
    with monkeypatch.context() as patch, psycopg.connect(address, autocommit=True) as connection:
        patch.setattr(migrating, "MIGRATIONS", migrating.MIGRATIONS[:1])
        migrating.prepare(connection, address)
        connection.execute("INSERT INTO tasks (id, contract, mode) VALUES ('arms', '', 'live')")
    assert append_7(address, some(3, 4), hour=7) == 2
    assert append_7(address, some(1, 2, 4), hour=8) == 2
    return address


def ids(store: PostgresStore) -> list[int]:
    return [int.from_bytes(entry.report.id, "big") for entry in store.entries(0, 100)]


def test_a_database_of_format_7_is_refused_until_it_is_migrated_and_keeps_what_waits(database_7: str):
    with pytest.raises(ConfigurationError, match=r"has format 7, and this version needs format 8.*store migrate"):
        PostgresStore(database_7)
    migrate(database_7)
    with contextlib.closing(PostgresStore(database_7)) as store:
        assert store.order(100) == 4
        assert ids(store) == [3, 4, 1, 2]
        assert store.append(some(1, 2, 3, 4, 5)) == [False] * 4 + [True]
        assert store.count(1) == (5, 0)
        assert store.history(1) == [Tally(1, 0, "accepted", 1), Tally(1, 7, "accepted", 2), Tally(1, 8, "accepted", 2)]


def test_what_a_server_of_format_7_still_writes_after_the_migration_is_learned_once(database_7: str):
    migrate(database_7)
    with contextlib.closing(PostgresStore(database_7)) as store:
        assert store.append(some(2, 6)) == [False, True]
        assert append_7(database_7, some(5, 6, 7), hour=9) == 2
        before = store.order(3)
        while more_of_them := store.order(3):
            before += more_of_them
        assert before == len(ids(store)) == 7
        assert sorted(ids(store)) == [1, 2, 3, 4, 5, 6, 7]
        assert append_7(database_7, some(8, 5), hour=9) == 1
        assert store.order(100) == 1
        assert ids(store)[-1] == 8
        assert store.count(1) == (8, 0)
