"""SQLite files as the embedded store uses them: opened in one way, written all or nothing, faults told by one name."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store.base import StoreFault
from sottovoce.server.store.migrations import Format, Migration, check_known, check_usable, missing, newest

BUSY_SECONDS = 2.0
"""How long to wait for somebody else who writes; then it is a fault. Nobody of ours writes for that long."""
STATEMENTS = 256
"""Prepared statements that a connection keeps."""

PASSING = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED,
           sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_CORRUPT,
           sqlite3.SQLITE_NOTADB}  # fmt: skip
"""What SQLite says where the fault is of the disk, or of somebody else who uses the file."""


def passing(error: sqlite3.DatabaseError) -> str:
    """What to say where the fault is not of whoever asked; else nothing."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)  # Python's own errors have none
    return f"{error} ({error.sqlite_errorname})" if code & 0xFF in PASSING else ""


def open_file(path: Path, migrations: Sequence[Migration], *, durable: bool, make: bool = True) -> sqlite3.Connection:
    """A file of this version, made if there is none and it may be. Any other is refused by name."""
    try:
        with contextlib.suppress(FileExistsError):
            if make:  # its owner's alone; SQLite's other files follow it
                os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        connection = open_existing(path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        if durable:
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # `tidy` does it: no commit should wait for it
        if _is_empty(connection):
            with transaction(connection):
                if _is_empty(connection):  # still: another process may just have made it
                    _apply(connection, migrations, newest(migrations))
    except (OSError, sqlite3.Error) as error:
        advice = "put a backup of the folder in its place, or choose another --data"
        raise ConfigurationError(f"cannot use {path}: {error}; {advice}") from error
    try:
        check_usable(str(path), format_of(connection), migrations, str(path.parent))
    except ConfigurationError:
        connection.close()
        raise
    return connection


class Place:
    """A file that is open. What is written to it after it was moved or deleted ends with this process."""

    def __init__(self, path: Path) -> None:
        self._path, self._found = path, _identity(path)

    def check(self) -> None:
        """A fault unless it is still where it was."""
        if _identity(self._path) != self._found:
            raise StoreFault(f"{self._path} is not the file that was opened; put that one back, or restart the server")


def _identity(path: Path) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def migrate_file(path: Path, migrations: Sequence[Migration]) -> None:
    """Bring a file up to date, in one transaction."""
    with contextlib.closing(open_existing(path)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        with transaction(connection):
            found = format_of(connection)
            check_known(str(path), found, migrations)
            if some := missing(found, migrations):
                _apply(connection, some, newest(migrations))


def open_existing(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(
        address, BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS, uri=True
    )


def format_of(connection: sqlite3.Connection) -> Format:
    """What a file carries, in two numbers of its header; format 6 left the second one at 0."""
    both = "SELECT user_version, application_id FROM pragma_user_version, pragma_application_id"
    number, oldest = connection.execute(both).fetchone()
    return Format(number, oldest or number)


def write_format(connection: sqlite3.Connection, format: Format) -> None:
    connection.execute(f"PRAGMA user_version = {format.number}")
    connection.execute(f"PRAGMA application_id = {format.oldest}")


def _apply(connection: sqlite3.Connection, migrations: Sequence[Migration], after: Format) -> None:
    for migration in migrations:
        for statement in migration.statements:
            connection.execute(statement)
    write_format(connection, after)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


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


def sync_open(path: Path) -> None:
    """Sync a file that SQLite has open here, through SQLite's own descriptor; nothing where the system has no /proc.

    Opening and closing the file once more would end all locks of this process on it.
    """
    if (number := _descriptor(path.resolve())) is not None:
        os.fdatasync(number)


def _descriptor(path: Path) -> int | None:
    with contextlib.suppress(OSError):
        for number in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):  # closed meanwhile
                if os.readlink(f"/proc/self/fd/{number}") == str(path):
                    return int(number)
    return None
