"""`sottovoce task`: create, show, pause, resume, promote, export, list and replay the tasks of a server."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.output import table_of, words
from sottovoce.protocol.errors import ConfigurationError, UnknownName

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from sottovoce.admin.remote import Remote
    from sottovoce.protocol.contract import Contract
    from sottovoce.protocol.wire import Summary, TaskDocument
    from sottovoce.users.warm import Case

Server = Annotated[str, typer.Option(help="The address of the server.")]
Id = Annotated[str, typer.Argument(help="The id of the task.")]
HERE = "http://127.0.0.1:8080"

task = typer.Typer(
    help="Create and look after the tasks of a server (token: SOTTOVOCE_ADMIN_TOKEN).", no_args_is_help=True
)


@task.command()
def create(
    file: Annotated[Path, typer.Argument(help="The task in TOML; `sottovoce init` writes a first one.")],
    server: Server = HERE,
    warm_start: Annotated[
        Path | None, typer.Option(help="CSV of public or consented answers: fields, action, reward.", dir_okay=False)
    ] = None,
) -> None:
    """Send a task to a server; the same file twice changes nothing."""
    from sottovoce.catalogue.resolve import contract_of
    from sottovoce.catalogue.task_file import load_task_file
    from sottovoce.users.warm import cases

    loaded = load_task_file(file)
    contract = contract_of(loaded)  # refused here before anything travels
    warm = cases(contract, _rows_of(warm_start)) if warm_start else []
    remote = _remote(server)
    document = remote.create(loaded)
    heard = _warm(remote, contract, warm)
    _print_task(document, remote)
    if heard:
        _say(f"heard {heard:,} answers of {warm_start}, without noise: they were public or given with consent")


@task.command()
def show(id: Id, server: Server = HERE) -> None:
    """Print the contract of a task, its promise, its budgets and how far it is."""
    remote = _remote(server)
    _print_task(remote.task(id), remote)


@task.command()
def pause(id: Id, server: Server = HERE) -> None:
    """Ask for no more reports until the task is resumed; devices go on choosing."""
    _print_status(_remote(server).pause(id))


@task.command()
def resume(id: Id, server: Server = HERE) -> None:
    """Ask for reports again."""
    _print_status(_remote(server).resume(id))


@task.command()
def promote(id: Id, server: Server = HERE) -> None:
    """Let an apprentice decide: from now on devices choose by what was learned."""
    _print_status(_remote(server).promote(id))


@task.command()
def export(
    id: Id,
    out: Annotated[Path, typer.Option(help="The file to write, NDJSON.", dir_okay=False)],
    server: Server = HERE,
) -> None:
    """Write the contract and every private report that is kept, a line each."""
    lines = _remote(server).export(id)
    contract = next(lines)  # refused here before a file is written
    out.parent.mkdir(parents=True, exist_ok=True)
    reports = 0
    with out.open("wb") as file:
        file.write(contract)
        for line in lines:
            file.write(line)
            reports += 1
    _say(f"{out}: the contract and {reports:,} reports")


@task.command()
def replay(
    id: Id,
    data: Annotated[Path, typer.Option(help="The folder of the server.", file_okay=False, exists=True)] = Path("data"),
) -> None:
    """Compute what was learned again from the journal, and print the hash of the state; on the server's machine."""
    from sottovoce.server.learn.process import replay as replayed
    from sottovoce.server.store.sqlite import SqliteStore

    with contextlib.closing(SqliteStore(data)) as store:
        rows = {row.contract.id: row for row in store.tasks()}
        if id not in rows:
            raise UnknownName("task", id, rows)
        _say(replayed(store, rows[id]))


@task.command(name="list")
def list_tasks(server: Server = HERE) -> None:
    """List the tasks of a server."""
    from rich.console import Console

    table = table_of("Tasks", words("task"), words("title", wraps=True), "epsilon", "expires", words("state"))
    for document in _remote(server).tasks():
        contract = document.contract
        epsilon, expires = f"{contract.task.epsilon:g}", contract.expires.isoformat()
        table.add_row(contract.id, contract.title or contract.task.learner, epsilon, expires, _state(document))
    Console().print(table)


# --- what the commands share -----------------------------------------------------------------------------------------


def _remote(server: str) -> "Remote":
    from sottovoce.admin.remote import TOKEN, Remote

    return Remote(server, os.environ.get(TOKEN, ""))


def _say(text: str) -> None:
    from rich.console import Console

    Console().print(text, highlight=False, soft_wrap=True)


def _print_status(document: "TaskDocument") -> None:
    _say(f"{document.contract.id} is {_state(document)}")


def _state(document: "TaskDocument") -> str:
    return "paused" if document.status.paused else document.status.mode


def _print_task(document: "TaskDocument", remote: "Remote") -> None:
    from rich.console import Console

    from sottovoce.admin.learned import learned

    console = Console()
    summary, rows = learned(document.contract, remote)
    console.print(_facts(document, summary))
    print_learned(console, summary, rows)


def _facts(document: "TaskDocument", summary: "Summary") -> "Table":
    from rich.table import Table

    contract = document.contract
    table = Table(title=contract.title or contract.id, title_justify="left", show_header=False, box=None)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, fact in _lines(document, summary):
        table.add_row(name, fact)
    return table


def _lines(document: "TaskDocument", summary: "Summary") -> Iterator[tuple[str, str]]:
    contract = document.contract
    limit, reward, gates = contract.limit, contract.reward, contract.gates
    delta = f", delta {contract.task.delta:g}" if contract.task.delta else ", no delta"
    yield "task", f"{contract.id}, {_state(document)}, until {contract.expires.isoformat()}"
    yield "learner", f"{contract.task.learner} ({contract.task.preset})"
    yield "chooses", _choices(contract)
    if contract.fields:
        yield "fields", ", ".join(f"{name} ({_kind(field)})" for name, field in sorted(contract.fields.items()))
    yield (
        "reward",
        f"{reward.low:g} to {reward.high:g}; {reward.default:g} if none comes within {_duration(reward.wait)}",
    )
    yield "promise", f"epsilon {gates[0].epsilon:g}{delta} a report, by {contract.task.mechanism}"
    if len(gates) > 1:
        yield "quieter", "epsilon " + " or ".join(f"{gate.epsilon:g}" for gate in gates[1:])
    yield "budget", f"epsilon {limit.window:g} in {limit.window_days} days, {limit.lifetime:g} ever, for one device"
    length = "one byte" if summary.bytes_per_report == 1 else f"{summary.bytes_per_report} bytes"
    yield "report", f"{length}, sent within {_duration(contract.delay)}, kept {_duration(contract.retention)}"
    yield "progress", f"{summary.reports:,} reports of about {contract.task.rounds:,}, {summary.learned:,} learned from"
    yield "published", f"after {summary.published:,}; every {contract.publish_every:,} reports"
    if summary.refused:
        yield "refused", ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(summary.refused.items()))
    if summary.done:
        yield "done", f"recommends {_named(contract, summary.recommendation)}"
    yield "digest", document.digest


def _duration(seconds: int) -> str:
    """As it stands in a task file.

    >>> _duration(86400), _duration(5400)
    ('1d', '90m')
    """
    from sottovoce.catalogue.task_file import UNITS

    unit = max((unit for unit in UNITS if seconds % UNITS[unit] == 0), key=lambda unit: UNITS[unit])
    return f"{seconds // UNITS[unit]}{unit}" if seconds else "0s"


def _choices(contract: "Contract") -> str:
    if contract.actions:
        return ", ".join(contract.actions)
    if contract.candidates:
        return f"one of up to {contract.candidates} candidates"
    return f"a point of a {contract.task.region.get('kind', 'ball')} in {contract.task.dimension} dimensions"


def _kind(field: Any) -> str:
    from sottovoce.protocol.fields import Category, Number

    match field:
        case Number(low=low, high=high):
            return f"{low:g} to {high:g}"
        case Category(values=values):
            return " | ".join(values)
        case _:
            return "yes or no"


def _named(contract: "Contract", recommendation: Any) -> str:
    arms = recommendation if isinstance(recommendation, list) else [recommendation]
    named = [contract.actions[arm] if contract.actions and isinstance(arm, int) else f"{arm}" for arm in arms]
    return ", ".join(named)


def print_learned(console: "Console", summary: "Summary", rows: list[dict[str, Any]]) -> None:
    """What the server has learned; see `fleet.learned`."""
    from sottovoce.report.page import cell

    if not rows:
        return
    title = f"Learned from {summary.learned:,} reports"
    first, *numbers = rows[0]
    table = table_of(title, words(first), *numbers)
    table.min_width = len(title)
    for row in rows:
        table.add_row(*(cell(value) for value in row.values()))
    console.print()
    console.print(table)


# --- warm start ------------------------------------------------------------------------------------------------------


def _rows_of(path: Path) -> Iterator[dict[str, str]]:
    import csv

    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            yield from csv.DictReader(file, restval="")
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from error


def _warm(remote: "Remote", contract: "Contract", cases: "list[Case]") -> int:
    """Encode here, send in batches; what is heard is what a device would say, without noise.

    A gradient is taken at the present model, so there the batches are as long as a model lasts.
    """
    from sottovoce.protocol.errors import Refused
    from sottovoce.protocol.wire import LARGEST_BATCH, WarmRow
    from sottovoce.users.warm import answers

    gradients = contract.task.user == "generalized"
    size = min(LARGEST_BATCH, contract.publish_every) if gradients else LARGEST_BATCH
    heard = 0
    for start in range(0, len(cases), size):
        remote.settled(contract.id)
        public = remote.model(contract.id) if gradients else None
        found = answers(contract, cases[start : start + size], public)
        try:
            heard += remote.warm(contract.id, [WarmRow(action=arm, message=message) for arm, message in found])
        except Refused as error:
            raise Refused(f"{contract.id} was created, but not warmed up: {error}") from error
    return heard
