"""`sottovoce demo`: the main job from end to end: a server, two tasks, thousands of devices, what was learned."""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.admin.learned import learned
from sottovoce.admin.remote import TOKEN, Remote
from sottovoce.catalogue.task import holds_out
from sottovoce.catalogue.task_file import TaskFile, load_task_file
from sottovoce.cli.devices import print_result
from sottovoce.cli.output import progress_bar, say
from sottovoce.cli.serve import free_port
from sottovoce.cli.task import print_learned
from sottovoce.client.http import Http
from sottovoce.protocol.errors import SottovoceError, Unreachable

if TYPE_CHECKING:
    from sottovoce.fleet.page import TaskRun

HOST = "127.0.0.1"
CONNECTIONS = 4
"""People who are served at once."""
START = 60.0
"""Seconds in which a server must be ready, and end."""


def demo(
    files: Annotated[list[Path], typer.Argument(help="Tasks in TOML, as in experiments/live.")],
    out: Annotated[Path, typer.Option(help="Folder of the report.", file_okay=False)] = Path("demo"),
    people: Annotated[int, typer.Option(help="How many come to each task.")] = 3000,
    seed: Annotated[int, typer.Option(help="Another number, other people in another world.")] = 0,
) -> None:
    """Start a server, create tasks, let simulated people with real devices answer, and write a report."""
    from sottovoce.fleet.page import page_of

    tasks = [load_task_file(file) for file in files]
    with tempfile.TemporaryDirectory() as data, running_server(Path(data)) as (server, remote):
        say(f"a server at {server}, its journal in one folder", "dim")
        runs = [_run(server, remote, file, people, seed) for file in tasks]
    out.mkdir(parents=True, exist_ok=True)
    page = out / "report.html"
    page.write_text(page_of(runs), encoding="utf-8")
    say(f"report: {page}", wrap=False)


def _run(server: str, remote: Remote, file: TaskFile, people: int, seed: int) -> "TaskRun":
    """One task: created, answered, compared, printed."""
    from sottovoce.fleet.page import TaskRun
    from sottovoce.fleet.people import band_of
    from sottovoce.fleet.run import run_fleet

    contract = remote.contract(remote.create(file).id)
    with progress_bar(contract.id, people) as advance:
        result = run_fleet(server, contract.id, people, seed=seed, connections=CONNECTIONS, progress=advance)
    band = band_of(contract, result.world, len(result.curve))
    run = TaskRun(contract, result, band, *learned(contract, remote))
    say()
    print_result(contract, result, band)
    verdict = "inside" if band.holds(result.regret) else "outside"
    without = ", which hold nobody out" if holds_out(contract) else ""
    say(f"{verdict} the range of 99 of 100 simulated runs in the same world{without}", "dim")
    print_learned(run.summary, run.rows)
    return run


@contextmanager
def running_server(data: Path) -> Iterator[tuple[str, Remote]]:
    """A server of our own on a free port, ready to answer; it is asked to stop at the end, and waited for."""
    token, port = secrets.token_urlsafe(24), free_port(HOST, 0)
    server = f"http://{HOST}:{port}"
    command = [sys.executable, "-m", "sottovoce", "serve", "--port", str(port), "--data", str(data)]
    command += ["--rate", "0"]  # thousands of people share one address
    with (data / "server.log").open("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {TOKEN: token})
        try:
            _wait_until_ready(server, process, data / "server.log")
            yield server, Remote(server, token)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(START)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    if process.returncode not in (0, -signal.SIGTERM):
        raise SottovoceError(f"the server ended with status {process.returncode}")


def _wait_until_ready(server: str, process: subprocess.Popen, log: Path) -> None:
    transport, until = Http(server, timeout=1.0), time.monotonic() + START
    while process.poll() is None and time.monotonic() < until:
        with suppress(OSError):
            if transport.request("GET", "/readyz").status == 200:
                return
        time.sleep(0.05)
    raise Unreachable(f"the server did not start: {log.read_text().strip()[-500:]}")
