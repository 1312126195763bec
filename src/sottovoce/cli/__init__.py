"""The command `sottovoce`: one file per command; heavy imports happen inside them."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        import typer
    except ModuleNotFoundError:
        if sys.argv[1:2] == ["inspect"]:  # needs nothing but the device
            from sottovoce.client.inspection import main

            return main(sys.argv[2:])
        sys.exit("The command line needs its extras: pip install 'sottovoce[sim]'")

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
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.command()(algorithms)
    app.command()(plan)
    app.command()(simulate)
    app.command()(audit)
    app.add_typer(reproduce, name="reproduce")
    app.command()(shuffle)
    app.command()(init)
    app.command()(serve)
    app.add_typer(task, name="task")
    app.command()(devices)
    app.command()(demo)
    app.command()(inspect)
    try:
        app()
    except SottovoceError as error:
        from rich.console import Console

        Console(stderr=True).print(f"[bold red]sottovoce:[/] {error}", highlight=False)
        sys.exit(2)
