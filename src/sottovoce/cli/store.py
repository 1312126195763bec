"""`sottovoce store`: look after what a server keeps, on the server's machine."""

from typing import Annotated

import typer

from sottovoce.cli.output import say

store = typer.Typer(help="Look after what a server keeps.", no_args_is_help=True)


@store.callback()
def group() -> None:
    """A group, though it has one command so far."""


@store.command()
def migrate(
    address: Annotated[str, typer.Argument(metavar="[STORE]", help="sqlite:FOLDER, or the folder alone.")] = "data",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
) -> None:
    """Bring what an older version keeps to the format of this one. Make a copy first: there is no way back."""
    from sottovoce.server.coordination import only_one
    from sottovoce.server.store import folder_of, parts_of
    from sottovoce.server.store import migrate as run

    parts, folder = parts_of(address), folder_of(address)
    if not dry_run:
        with only_one("server", folder, wait=False), only_one("learner", folder, wait=True):
            run(address)
    for name, format, missing in parts:
        if not missing:
            say(f"{name} has format {format.number} and stays as it is", wrap=False)
        for migration in missing:
            verb = "would get" if dry_run else "has now"
            say(f"{name} {verb} format {migration.number}: {migration.change}", wrap=False)
