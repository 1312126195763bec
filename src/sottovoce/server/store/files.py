"""SQLite files as the embedded store uses them: opened in one way, written all or nothing, faults told by one name."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from sottovoce.protocol.errors import ConfigurationError

FORMAT = 6
"""Of both files, kept in SQLite's `user_version`. Sottovoce 0.1 left it at 0."""
BUSY_SECONDS = 2.0
"""How long to wait for somebody else who writes; then it is a fault. Nobody of ours writes for that long."""
STATEMENTS = 256
"""Prepared statements that a connection keeps."""

PASSING = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED,
           sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PROTOCOL}  # fmt: skip
"""What SQLite says where the fault is of the disk, or of somebody else who uses the file."""


def passing(error: sqlite3.OperationalError) -> str:
    """What to say where the fault is not of whoever asked; else nothing."""
    return f"{error} ({error.sqlite_errorname})" if error.sqlite_errorcode & 0xFF in PASSING else ""


def open_file(path: Path, schema: str, *, durable: bool) -> sqlite3.Connection:
    try:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))  # its owner's alone; SQLite's other files follow it
        connection = sqlite3.connect(
            path, BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        if durable:
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # `tidy` does it: no commit should wait for it
        if _is_new(path, connection):
            connection.executescript(f"BEGIN IMMEDIATE; {schema} PRAGMA user_version = {FORMAT}; COMMIT;")
    except (OSError, sqlite3.Error) as error:
        raise ConfigurationError(f"cannot use {path}: {error}") from error
    return connection


def _is_new(path: Path, connection: sqlite3.Connection) -> bool:
    """Has it no tables yet? A file of another version is refused by name."""
    both = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
    found, tables = connection.execute(both).fetchone()
    if tables and found != FORMAT:
        writer = "Sottovoce 0.1" if found == 0 else f"another version of Sottovoce (format {found})"
        connection.close()
        raise ConfigurationError(
            f"{path} was written by {writer}, which keeps its data in another way; choose another --data folder, or go "
            "on with the version that wrote it"
        )
    return not tables


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[Callable[..., sqlite3.Cursor]]:
    """All or nothing: what runs statements, until the context ends."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection.execute
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it
            connection.execute("ROLLBACK")
        raise
