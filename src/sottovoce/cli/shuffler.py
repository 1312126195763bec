"""`sottovoce shuffler`: a process between devices and their server that mixes reports."""

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.serve import free_port
from sottovoce.protocol.errors import ConfigurationError

TOKEN = "SOTTOVOCE_SHUFFLER_TOKEN"


def shuffler(
    server: Annotated[str, typer.Option(metavar="ADDRESS", help="The address of the server that learns.")],
    task: Annotated[
        list[str], typer.Option(metavar="ID", help="The id of a task that declares a shuffler; may be repeated.")
    ],
    batch: Annotated[
        int, typer.Option(help="Reports in a batch at least; each task's own number where that is larger.", min=0)
    ] = 0,
    data: Annotated[Path, typer.Option(help="Folder of the reports that wait.", file_okay=False)] = Path("shuffler"),
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one and logs it.")] = 8081,
    rate: Annotated[
        float, typer.Option(help="Reports, permits and other requests a second for each address; 0 is no limit.", min=0)
    ] = 100.0,
    proxies: Annotated[
        int, typer.Option(help="Trusted proxies in front, each of which adds to X-Forwarded-For.", min=0, max=10)
    ] = 0,
) -> None:
    """Run a shuffler: devices report to it, and it passes reports on in batches without saying whose they are.

    It is to be run by somebody else than the server. Its token for the server (role `shuffle`) is
    SOTTOVOCE_SHUFFLER_TOKEN, or in the file that SOTTOVOCE_SHUFFLER_TOKEN_FILE names.
    """
    from sottovoce.server.secrets import secret
    from sottovoce.shuffler.run import run

    token = secret(TOKEN)
    if not token:
        raise ConfigurationError(f"set {TOKEN} to a token of the server: `sottovoce token new NAME --role shuffle`")
    port = free_port(host, port)
    run(server, task, data, token=token, batch=batch, host=host, port=port, rate=rate, proxies=proxies)
