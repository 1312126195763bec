"""`sottovoce token`: new admin tokens for a server."""

import datetime
import secrets
from typing import Annotated

import typer

from sottovoce.cli.output import say
from sottovoce.server.admins import Role, check_name, digest_of_token

TOKEN_BYTES = 32

token = typer.Typer(help="Make tokens for those who look after a server.", no_args_is_help=True)


@token.callback()
def group() -> None:
    """With it `new` has to be said, though it is the only command so far."""


@token.command()
def new(
    name: Annotated[str, typer.Argument(help="For whom or for what it is: the log of actions shows it.")],
    role: Annotated[Role, typer.Option(help="`read` looks; `operate` does everything.")],
    expires: Annotated[
        datetime.datetime | None, typer.Option(help="Its last day; for ever when left out.", formats=["%Y-%m-%d"])
    ] = None,
) -> None:
    """Make a random token: its lines for the file of `sottovoce serve --tokens`, and, on the error stream, the token.

    So `>> tokens.toml` keeps the lines, and the token itself is shown once and kept nowhere.
    """
    check_name(name)
    made = secrets.token_urlsafe(TOKEN_BYTES)
    lines = [f"[tokens.{name}]", f'role = "{role}"', f'sha256 = "{digest_of_token(made)}"']
    say("\n".join([*lines, *([f"expires = {expires.date()}"] if expires else [])]), wrap=False)
    typer.echo(f"\nthe token of {name}, shown only now:\n{made}", err=True)
