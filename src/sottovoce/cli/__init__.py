"""The command `sottovoce`: one file per command; heavy imports happen inside them."""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

if TYPE_CHECKING:
    from typer.core import TyperGroup

COMMANDS = (
    "algorithms", "choose", "plan", "capacity", "try_data", "simulate", "sweep", "frontier", "audit", "reproduce",
    "shuffle", "init", "serve", "shuffler", "token", "store", "task", "statement", "devices", "demo", "inspect",
)  # fmt: skip
"""In the order of `--help`; each is the function, or the group of commands, of this name in the file of this name."""

SPOKEN = {"try_data": "try"}
"""Commands whose name is a word of Python, which a function cannot have."""

EXTRAS = {
    "parquet": ("pyarrow",),
    "ray": ("ray",),
    "data": ("sklearn",),
    "server": ("granian", "prometheus_client", "starlette", "uvloop"),
    "sim": ("jax", "jaxlib", "matplotlib", "rich", "typer"),
}
"""Which packages an extra brings. The server's own brings all that `serve` needs."""

CACHE = "SOTTOVOCE_CACHE"
"""Where compiled loops are kept between two commands; set to nothing, they are not kept."""


def main() -> None:
    """Run the command line."""
    keep_compiled_loops()
    try:
        _run()
    except ModuleNotFoundError as error:
        if sys.argv[1:2] == ["inspect"]:  # needs nothing but the device
            from sottovoce.client.inspection import main as inspect

            return inspect(sys.argv[2:])
        package = (error.name or "").partition(".")[0]
        extras = [extra for extra, packages in EXTRAS.items() if package in packages]
        if not extras:
            raise
        extra = "server" if sys.argv[1:2] in (["serve"], ["shuffler"]) else extras[0]
        _refuse(f"{package} is not installed; this command needs it: pip install 'sottovoce[{extra}]'")


def keep_compiled_loops() -> None:
    """Tell JAX, before it is loaded, to keep what it compiles: the second run of a shape starts at once.

    A folder that cannot be written is not used. JAX itself compiles anew what it cannot read, with a warning.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    chosen = os.environ.get(CACHE, os.path.join(home, "sottovoce"))
    if not chosen or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    try:
        Path(chosen).mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if os.access(chosen, os.W_OK | os.X_OK):
        os.environ["JAX_COMPILATION_CACHE_DIR"] = chosen
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


def _run() -> None:
    from sottovoce.protocol.errors import SottovoceError

    try:
        every_command()()
    except SottovoceError as error:
        _refuse(str(error))


def every_command() -> "TyperGroup":
    """`sottovoce`, with the commands below it."""
    import typer

    from sottovoce.cli.help import in_plain_words

    app = typer.Typer(
        help="Learn which action is best without ever hearing what people say.",
        no_args_is_help=True,
        invoke_without_command=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def common(
        version: Annotated[bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)] = False,
    ) -> None:
        if version:
            from sottovoce import __version__

            typer.echo(f"sottovoce {__version__}")
            raise typer.Exit

    for name in COMMANDS:
        command = getattr(import_module(f"sottovoce.cli.{name}"), name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(SPOKEN.get(name))(command)
    group = typer.main.get_group(app)
    in_plain_words(group)
    return group


def _refuse(sentence: str) -> NoReturn:
    """One sentence as it is, and exit code 2."""
    try:
        from rich.text import Text

        from sottovoce.cli.output import Terminal
    except ModuleNotFoundError:
        sys.stderr.write(f"sottovoce: {sentence}\n")
    else:
        terminal = Terminal(stderr=True)
        said = terminal.render_str(sentence, highlight=False)
        terminal.print(Text.assemble(("sottovoce: ", "bold red"), said))
    sys.exit(2)
