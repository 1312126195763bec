"""`sottovoce init`: a commented starting file of a task."""

import datetime
from importlib import resources
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from sottovoce.cli.output import say
from sottovoce.protocol.errors import ConfigurationError


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("task.toml"),
    contextual: Annotated[bool, typer.Option("--contextual", help="Choose by features, on the device.")] = False,
) -> None:
    """Write a commented starting file of a task, to be edited and reviewed."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(starting_file(path, contextual=contextual))
    except FileExistsError as error:
        raise ConfigurationError(f"{path} is already there; name another file, or remove it first") from error
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {error.strerror}") from error
    say(f"{path}: edit it, then `sottovoce task create {path}`", wrap=False)


def starting_file(path: Path, *, contextual: bool) -> str:
    """The text of the file, from the folder `starting`; it can be created as it stands."""
    name = "contextual.toml" if contextual else "arms.toml"
    text = resources.files("sottovoce.cli").joinpath("starting", name).read_text("utf-8")
    return Template(text).substitute(path=path, expires=datetime.date.today() + datetime.timedelta(days=180))
