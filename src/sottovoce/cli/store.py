"""`sottovoce store`: look after what a server keeps, on the server's machine."""

import contextlib
from collections.abc import Iterator
from typing import Annotated

import typer

from sottovoce.cli.output import progress_bar, say

store = typer.Typer(help="Look after what a server keeps.", no_args_is_help=True)


PLACE = "sqlite:FOLDER, the folder alone, or postgresql://…"


@store.command()
def migrate(
    address: Annotated[str, typer.Argument(metavar="STORE", help=PLACE)] = "data",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
) -> None:
    """Bring what an older version keeps to the format of this one. Make a copy first: there is no way back."""
    from sottovoce.server.store import migrate as run
    from sottovoce.server.store import parts_of

    parts = parts_of(address)
    if any(part.missing for part in parts) and not dry_run:
        with _alone(address):
            run(address)
    for name, format, missing in parts:
        if not missing:
            say(f"{name} has format {format.number} and stays as it is", wrap=False)
        for migration in missing:
            verb = "would get" if dry_run else "has now"
            say(f"{name} {verb} format {migration.number}: {migration.change}", wrap=False)


@store.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help=f"{PLACE}; no server may use it.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="A new folder or a new, empty database.")],
) -> None:
    """Copy all that a server keeps into a new store, and compare the two.

    Stop all servers first, on all hosts: what uses the store is refused, and what would come later is not copied. Then
    start them on the new store. Permits, tickets and models that people have stay valid. A password in an address can
    be read by whoever may list the processes; PGPASSWORD or a .pgpass file take its place.
    """
    from sottovoce.server.store import parts_of, reading, writing
    from sottovoce.server.store.copying import copy as run
    from sottovoce.server.store.copying import rows_of

    parts_of(source)  # refused before anything is made
    with _alone(source), reading(source) as old, _alone(target), writing(target) as new:
        with progress_bar("copying, then reading again", 2 * rows_of(old)) as step:
            copied = run(old, new, step)
        names = old.name, new.name
    for name, digest in zip(names, copied[1:], strict=True):
        say(f"{digest}  {name}", wrap=False)
    say(
        f"{names[1]} has all that {names[0]} has, {copied.reports:,} reports among it; both digests are equal",
        wrap=False,
    )


@contextlib.contextmanager
def _alone(address: str) -> Iterator[None]:
    """No server uses an embedded store as long as this lasts."""
    from sottovoce.server.coordination.pipes import only_one
    from sottovoce.server.store import folder_of, is_shared

    with contextlib.ExitStack() as alone:
        if not is_shared(address):
            alone.enter_context(only_one("server", folder_of(address), wait=False))
            alone.enter_context(only_one("learner", folder_of(address), wait=True))
        yield
