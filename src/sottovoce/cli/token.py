"""`sottovoce token`: new admin tokens for a server."""

import datetime
import os
import secrets
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.output import say
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.admins import Role, admins_in, check_name, digest_of_token

TOKEN_BYTES = 32

token = typer.Typer(help="Make tokens for those who look after a server.", no_args_is_help=True)


@token.callback()
def group() -> None:
    """With it `new` has to be said, though it is the only command so far."""


@token.command()
def new(
    name: Annotated[str, typer.Argument(help="For whom or for what it is: the log of actions shows it.")],
    role: Annotated[Role, typer.Option(help="`read` looks; `shuffle` is for a shuffler; `operate` does everything.")],
    expires: Annotated[
        datetime.datetime | None, typer.Option(help="Its last day; for ever when left out.", formats=["%Y-%m-%d"])
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="Add it to this file, made if there is none.", dir_okay=False)
    ] = None,
) -> None:
    """Make a random token, shown once, and its lines for the file of `sottovoce serve --tokens`."""
    check_name(name)
    made = secrets.token_urlsafe(TOKEN_BYTES)
    lines = [f"[tokens.{name}]", f'role = "{role}"', f'sha256 = "{digest_of_token(made)}"']
    text = "\n".join([*lines, *([f"expires = {expires.date()}"] if expires else [])])
    if file:
        _add(file, name, text)
    else:
        say(f"{text}\n", wrap=False)
    say(f"the token of {name}, which is shown only now and kept nowhere:\n{made}", wrap=False)


def _add(file: Path, name: str, text: str) -> None:
    """In one piece, so that a server that reads the file meanwhile finds a whole one."""
    if file.exists() and name in [admin.name for admin in admins_in(file)]:
        raise ConfigurationError(
            f"{file} has a token {name}; give the new one another name, and remove the old one later"
        )
    try:
        place = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(place, f"{text}\n\n".encode())
        os.close(place)
    except OSError as error:
        raise ConfigurationError(f"cannot write {file}: {error.strerror}") from error
    say(f"{file}: added {name}", wrap=False)
