"""All that a store keeps, as rows that are the same whichever database holds them: for moving, and for comparing.

Both stores have the same tables with the same columns. What differs is read in one way: a count that one of them has
not written yet is 0, a boolean is a boolean, and texts are in the order of their bytes.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from sottovoce.server.store.base import Action, Journalled, Publication, Tally

Row = tuple[Any, ...]


class Table(NamedTuple):
    name: str
    columns: tuple[str, ...]
    """The key first."""
    key: int
    """How many columns, from the first on, are the key; rows are read in their order."""
    source: str = ""
    """What to read from where that is not the table itself."""
    flags: tuple[str, ...] = ()
    """Columns with booleans."""
    texts: tuple[str, ...] = ()
    """Columns of the key with texts."""
    at_once: int = 10_000
    """Rows in memory together: few where each may be large."""


EVERY_COUNT = """(
  SELECT number AS task, coalesce(reports, 0) AS reports, coalesce(warm, 0) AS warm
  FROM tasks LEFT JOIN counts ON counts.task = number
) AS every"""

TABLES = (
    Table("secrets", ("name", "value"), 1, texts=("name",)),
    Table("tasks", ("number", "id", "contract", "mode", "paused", "prediction"), 1, flags=("paused",), at_once=16),
    Table("counts", ("task", "reports", "warm"), 1, source=EVERY_COUNT),
    Table("history", Tally._fields, 3, texts=("verdict",)),
    Table("actions", ("number", *Action._fields[:-1]), 1, at_once=100),
    Table("admitted", ("expires", "task", "id"), 3),
    Table("publications", ("task", "learned", "version", *Publication._fields[2:]), 3, texts=("version",), at_once=16),
    Table("snapshots", ("task", "seq", "learned", "published", "base", "day", "state"), 2, flags=("base",), at_once=16),
    Table("gaps", ("task", "after_seq", "until_seq", "reports"), 2),
    Table("unread", ("task", "seq", "error"), 2),
    Table("journal", ("seq", *Journalled._fields), 1),
    Table("ids", ("task", "id", "day"), 2),
)
"""What is kept. What servers only tell each other (news, wishes, elections) is not."""


class Last(NamedTuple):
    """The last numbers that were given, also to what was deleted since: they are never given again."""

    place: int
    action: int


class Whole(Protocol):
    """A store that nobody else uses, within one transaction that ends with the context that gave it."""

    name: str

    def count(self, table: Table) -> int: ...  # its rows
    def rows(self, table: Table) -> Iterator[list[Row]]: ...  # piece by piece, in order
    def add(self, table: Table, rows: Sequence[Row]) -> None: ...  # at the end of an empty table, in order
    def last(self) -> Last: ...
    def go_on_after(self, last: Last) -> None: ...  # give numbers after these; when all rows are there


class Digest:
    """One SHA-256 over everything, made from rows as they come.

    >>> digest = Digest()
    >>> digest.begin(TABLES[0])
    >>> digest.add([("tickets", b"a secret")])
    >>> digest.end(Last(place=7, action=0))[:8]
    'd973408d'
    """

    def __init__(self) -> None:
        self._hash, self._encode = hashlib.sha256(), msgspec.msgpack.Encoder().encode

    def begin(self, table: Table) -> None:
        self._hash.update(self._encode([table.name, *table.columns]))

    def add(self, rows: Sequence[Row]) -> None:
        self._hash.update(b"".join(map(self._encode, rows)))

    def end(self, last: Last) -> str:
        self._hash.update(self._encode(last))
        return self._hash.hexdigest()


def digest_of(whole: Whole, step: Callable[[int], None] = lambda rows: None) -> str:
    """Of all that is kept; the same for two stores that hold the same."""
    digest = Digest()
    for table in TABLES:
        digest.begin(table)
        for rows in whole.rows(table):
            digest.add(rows)
            step(len(rows))
    return digest.end(whole.last())
