"""`sottovoce serve`: the live server."""

import socket
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.tracing import Level


def serve(
    data: Annotated[
        Path,
        typer.Option(
            help="Folder for all that the server keeps; with --store only for what it compiles.", file_okay=False
        ),
    ] = Path("data"),
    store: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="postgresql://… for several servers (or SOTTOVOCE_STORE); else SQLite in --data."
        ),
    ] = "",
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one and logs it.")] = 8080,
    workers: Annotated[
        int,
        typer.Option(help="Web processes, each on a port of its own from --port on; needs PostgreSQL.", min=1, max=64),
    ] = 1,
    rate: Annotated[
        float,
        typer.Option(
            help="Reports, tickets and other requests a second for each client address, divided among --workers; 0 is "
            "no limit.",
            min=0,
        ),
    ] = 100.0,
    proxies: Annotated[
        int, typer.Option(help="Trusted proxies in front, each of which adds to X-Forwarded-For.", min=0, max=10)
    ] = 0,
    tokens: Annotated[
        Path | None,
        typer.Option(help="File of admin tokens; `sottovoce token new` makes them. Read again when it changes."),
    ] = None,
    trace: Annotated[
        Level | None,
        typer.Option(
            help="What OpenTelemetry is told: groups of reports, or all, also single requests. The default is groups "
            "where OTEL_EXPORTER_OTLP_ENDPOINT is set, else off.",
            envvar="SOTTOVOCE_TRACE",
        ),
    ] = None,
) -> None:
    """Run the server: it makes offers, takes private reports and learns from them.

    The admin token is SOTTOVOCE_ADMIN_TOKEN, or in the file that SOTTOVOCE_ADMIN_TOKEN_FILE names.
    """
    from sottovoce.server.admins import Admins
    from sottovoce.server.secrets import secret
    from sottovoce.server.serve import serve as run
    from sottovoce.server.workers import check_workers, serve_workers

    admins = Admins(secret("SOTTOVOCE_ADMIN_TOKEN"), tokens)
    address = store or secret("SOTTOVOCE_STORE") or str(data)
    check_workers(address, workers)
    ports = [free_port(host, port and port + number) for number in range(workers)]
    options = {"folder": data, "host": host, "admins": admins, "proxies": proxies, "trace": trace}
    if workers == 1:
        run(address, port=ports[0], rate=rate, **options)
    else:
        serve_workers(address, ports, rate, **options)


def free_port(host: str, port: int) -> int:
    """The port, or any free one for 0; refuses one that is taken or does not exist."""
    if not 0 <= port < 2**16:
        raise ConfigurationError(f"--port is a number from 0 to 65535, got {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ConfigurationError(f"cannot listen on {host}:{port}: {error.strerror}") from error
        return probe.getsockname()[1]
