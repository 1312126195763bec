"""The command `sottovoce`: one file per command; heavy imports happen inside them."""

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

EXTRAS = {
    "granian": "server",
    "jax": "sim",
    "jaxlib": "sim",
    "matplotlib": "sim",
    "prometheus_client": "server",
    "pyarrow": "parquet",
    "rich": "sim",
    "sklearn": "data",
    "starlette": "server",
    "typer": "sim",
    "uvloop": "server",
}
"""Which extra brings a package. The server's own brings all that `serve` needs."""

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
        if package not in EXTRAS:
            raise
        extra = "server" if sys.argv[1:2] == ["serve"] else EXTRAS[package]
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
    import typer

    from sottovoce.cli.algorithms import algorithms
    from sottovoce.cli.audit import audit
    from sottovoce.cli.demo import demo
    from sottovoce.cli.devices import devices
    from sottovoce.cli.init import init
    from sottovoce.cli.inspect import inspect
    from sottovoce.cli.plan import plan
    from sottovoce.cli.reproduce import reproduce
    from sottovoce.cli.serve import serve
    from sottovoce.cli.shuffle import shuffle
    from sottovoce.cli.simulate import simulate
    from sottovoce.cli.task import task
    from sottovoce.protocol.errors import SottovoceError

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

    for command in (algorithms, plan, simulate, audit):
        app.command()(command)
    app.add_typer(reproduce, name="reproduce")
    for command in (shuffle, init, serve):
        app.command()(command)
    app.add_typer(task, name="task")
    for command in (devices, demo, inspect):
        app.command()(command)
    try:
        app()
    except SottovoceError as error:
        _refuse(str(error))


def _refuse(sentence: str) -> NoReturn:
    """One sentence as it is (square brackets are no markup here), and exit code 2."""
    try:
        from rich.console import Console
        from rich.text import Text
    except ModuleNotFoundError:
        sys.stderr.write(f"sottovoce: {sentence}\n")
    else:
        Console(stderr=True).print(Text.assemble(("sottovoce: ", "bold red"), sentence))
    sys.exit(2)
