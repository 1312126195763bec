"""`sottovoce store copy`: all that one store keeps, into an empty one, all or nothing and compared at the end."""

from collections.abc import Callable
from typing import NamedTuple

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.store.whole import TABLES, Digest, Whole, digest_of


class Copied(NamedTuple):
    reports: int
    """That are kept one by one."""
    source: str
    """Digest of what was read."""
    target: str
    """Digest of what is in the target, read again."""


def rows_of(whole: Whole) -> int:
    return sum(whole.count(table) for table in TABLES)


def check_empty(target: Whole) -> None:
    if full := [table.name for table in TABLES if target.count(table)]:
        raise ConfigurationError(
            f"{target.name} is not empty (it has {', '.join(full)}); name a new folder or a new database, to which no "
            "server was started yet"
        )


def copy(source: Whole, target: Whole, step: Callable[[int], None] = lambda rows: None) -> Copied:
    """The digests of both, which are equal; else it is refused, and the target's transaction must not be committed.

    `step` is told how many more rows were copied, and afterwards how many were read again.
    """
    check_empty(target)
    digest, reports = Digest(), 0
    for table in TABLES:
        digest.begin(table)
        for rows in source.rows(table):
            digest.add(rows)
            target.add(table, rows)
            reports += len(rows) if table.name == "journal" else 0
            step(len(rows))
    target.go_on_after(source.last())
    found = Copied(reports, digest.end(source.last()), digest_of(target, step))
    if found.source != found.target:
        raise ConfigurationError(
            f"the copy differs and was not kept: the digest of {source.name} is {found.source}, that of {target.name} "
            f"was {found.target}; nothing has changed, try again"
        )
    return found
