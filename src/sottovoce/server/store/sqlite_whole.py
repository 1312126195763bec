"""All that an embedded store keeps, read and written as a whole."""

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store.files import format_of, open_file, transaction
from sottovoce.server.store.migrations import check_same
from sottovoce.server.store.sqlite_migrations import FILES, parts_of
from sottovoce.server.store.whole import Last, Row, Table

MADE_AGAIN = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'index') AND sql IS NOT NULL"


class SqliteWhole:
    """A `Whole` in the two files of a folder."""

    def __init__(self, folder: Path, files: Sequence[sqlite3.Connection]) -> None:
        self.name, self._journal = str(folder), files[0]
        tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
        self._file: Mapping[str, sqlite3.Connection] = {
            name: file for file in files for (name,) in file.execute(tables).fetchall()
        }

    def count(self, table: Table) -> int:
        return self._file[table.name].execute(f"SELECT count(*) FROM {table.name}").fetchone()[0]

    def rows(self, table: Table) -> Iterator[list[Row]]:
        order = ", ".join(table.columns[: table.key])
        wanted = f"SELECT {', '.join(table.columns)} FROM {table.source or table.name} ORDER BY {order}"
        found = self._file[table.name].execute(wanted)
        flags = [table.columns.index(name) for name in table.flags]
        while rows := found.fetchmany(table.at_once):
            yield [_with_flags(row, flags) for row in rows] if flags else rows

    def add(self, table: Table, rows: Sequence[Row]) -> None:
        places = ", ".join("?" * len(table.columns))
        new = f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({places})"
        self._file[table.name].executemany(new, rows)

    def last(self) -> Last:
        found = dict(self._journal.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
        return Last(found.get("journal", 0), found.get("actions", 0))

    def go_on_after(self, last: Last) -> None:
        self._journal.execute("DELETE FROM sqlite_sequence")
        numbers = {"journal": last.place, "actions": last.action}
        given = [(name, number) for name, number in numbers.items() if number]
        self._journal.executemany("INSERT INTO sqlite_sequence VALUES (?, ?)", given)


@contextlib.contextmanager
def reading(folder: Path) -> Iterator[SqliteWhole]:
    """A store that is there, as it is at one moment. Whoever calls this has the locks of its server and learner."""
    parts_of(folder)  # refuses a folder in which there is none
    with _told(folder), contextlib.ExitStack() as end:
        files = _open(folder, end)
        for file in files:
            file.execute("BEGIN")
        yield SqliteWhole(folder, files)


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[SqliteWhole]:
    """A store to be filled, made if there is none; all or nothing.

    What was learned is committed first: a folder whose journal is empty has no tasks, whatever else is in it. Triggers
    would count what is counted already; they and indices are made again at the end, which is quicker too.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _told(folder), contextlib.ExitStack() as end:
        files = _open(folder, end)
        with contextlib.ExitStack() as commits:
            for file in files:
                commits.enter_context(transaction(file))
                commits.enter_context(_made_again(file))
            yield SqliteWhole(folder, files)
        for file in files:
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # synced, and no long log is left behind


@contextlib.contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise ConfigurationError(f"cannot use {folder}: {error}; nothing was copied") from error


def _open(folder: Path, end: contextlib.ExitStack) -> list[sqlite3.Connection]:
    """Both files, the journal first."""
    files = []
    for name, migrations in FILES.items():
        file = open_file(folder / name, migrations, durable=name == "journal.sqlite")
        files.append(end.enter_context(contextlib.closing(file)))
        check_same(str(folder / name), format_of(file), migrations)
    return files


@contextlib.contextmanager
def _made_again(file: sqlite3.Connection) -> Iterator[None]:
    made = file.execute(MADE_AGAIN).fetchall()
    for kind, name, _ in made:
        file.execute(f"DROP {kind} {name}")
    yield
    for _, _, statement in made:
        file.execute(statement)


def _with_flags(row: Row, flags: Sequence[int]) -> Row:
    return tuple(bool(value) if place in flags else value for place, value in enumerate(row))
