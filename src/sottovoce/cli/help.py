"""What `--help` shows: words for what is typed, such as NUMBER and FILE, where typer names types of Python."""

from typing import Any

import typer

WORDS = {
    "bool": "", "int": "NUMBER", "float": "NUMBER", "str": "TEXT", "path": "PATH", "file": "FILE", "dir": "FOLDER",
    "%Y-%m-%d": "YYYY-MM-DD",
}  # fmt: skip


def in_plain_words(command: Any) -> None:
    """Change the help of a command, and of those below it, so that it names no type of Python."""
    context = typer.Context(command)
    for parameter in (*command.params, command.get_help_option(context)):
        _name_what_is_typed(parameter, context)
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)  # lines as wide as the terminal
    for below in getattr(command, "commands", {}).values():
        in_plain_words(below)


def _name_what_is_typed(parameter: Any, context: typer.Context) -> None:
    """An option gets a word for its value; the name of an argument is one. Older versions of typer do so themselves."""
    if not hasattr(parameter, "display_type"):
        return
    if parameter.param_type_name == "argument":
        parameter.metavar = parameter.metavar or parameter.name.upper()
        parameter.display_type = lambda context: ""
    elif parameter.metavar is None:
        kind = parameter.display_type(context).strip("<>").removesuffix(" range")
        kind = kind.removeprefix("list[").removesuffix("]")
        parameter.metavar = WORDS.get(kind, kind)
