"""`sottovoce task`: create and show tasks of a server, change what may change, and get what is in them."""

import contextlib
import datetime
import time
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table

from sottovoce.admin.learned import learned
from sottovoce.admin.remote import TOKEN, Remote
from sottovoce.admin.warm import load_answers, send_answers
from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task import learning_of
from sottovoce.catalogue.task_file import load_task_file
from sottovoce.cli.output import JsonFile, say, table_of, words, write_rows
from sottovoce.cli.prediction import has_reports, predicted, send_prediction
from sottovoce.client.terms import expired
from sottovoce.protocol.contract import contract_from
from sottovoce.protocol.errors import ConfigurationError, UnknownName, Unreachable
from sottovoce.protocol.team import Summary
from sottovoce.report.describe import facts, gain_words, read_again, state_of
from sottovoce.report.differences import differences
from sottovoce.report.page import cell
from sottovoce.report.promotion import before_promotion
from sottovoce.server.secrets import secret

Server = Annotated[str, typer.Option(metavar="ADDRESS", help="The address of the server.")]
Id = Annotated[str, typer.Argument(help="The id of the task.")]
HERE = "http://127.0.0.1:8080"
STARTING = 10.0
"""Seconds that a server may take to start, where somebody has just started it."""

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
    no_plan: Annotated[bool, typer.Option("--no-plan", help="Make no prediction, which takes some seconds.")] = False,
) -> None:
    """Send a task to a server, with a prediction from a few simulated runs; the same file twice changes nothing."""
    loaded = load_task_file(file)
    contract = contract_from(contract_of(loaded))  # refused here before anything travels
    if expired(contract, time.time()):
        raise ConfigurationError(f"{file}: its last day, {contract.expires}, is over; write a later day for expires")
    answers = load_answers(warm_start, contract) if warm_start else []
    remote = _remote(server)
    if not remote.wait_until_up(STARTING, lambda: say(f"waiting for a server at {server}", wrap=False)):
        raise Unreachable(remote.nobody)
    prediction = None if no_plan or has_reports(remote, contract.id) else predicted(file)
    remote.create(loaded)
    if prediction:
        send_prediction(remote, contract.id, prediction)
    kept = send_answers(remote, contract, answers)
    _print_task(remote, contract.id)
    if kept:
        given = f"started from {kept:,} answers of {warm_start}, without noise: they were public or given with consent"
        say(given, wrap=False)


@task.command()
def show(id: Id, server: Server = HERE) -> None:
    """Print the contract of a task, its promise, its budgets and how far it is."""
    _print_task(_remote(server), id)


@task.command()
def pause(id: Id, server: Server = HERE) -> None:
    """Ask for no more reports until the task is resumed; devices go on choosing."""
    _change(server, id, "pause")


@task.command()
def resume(id: Id, server: Server = HERE) -> None:
    """Ask for reports again after a pause."""
    _change(server, id, "resume")


@task.command()
def promote(
    id: Id,
    server: Server = HERE,
    yes: Annotated[bool, typer.Option("--yes", help="Promote it whatever is known, and do not ask.")] = False,
) -> None:
    """Let an apprentice decide: from now on devices choose by what was learned. First it says what is known of that."""
    remote = _remote(server)
    if remote.status(id).mode == "apprentice":
        say(before_promotion(remote.contract(id), remote.summary(id)))
        if not yes:
            typer.confirm("Let it choose from now on? There is no way back.", abort=True)
    _change(server, id, "promote")


@task.command()
def snapshots(id: Id, server: Server = HERE) -> None:
    """List the states that were kept: a task is rolled back to them at once."""
    found = _remote(server).snapshots(id)
    if found.last < found.first:
        say(f"{id} has learned from no report yet: there is nothing to go back to", wrap=False)
        return
    table = table_of("Snapshots", "after reports", words("kept on"))
    for one in found.snapshots:
        table.add_row(f"{one.learned:,}", one.day or "not known")
    say(table)
    say(f"{id} can be rolled back to any count from {found.first:,} to {found.last:,}; to these at once", wrap=False)


@task.command()
def rollback(
    id: Id,
    to: Annotated[
        int,
        typer.Option(
            help="Keep what was learned from so many reports and rows; at once to those that `task snapshots` lists.",
            min=0,
        ),
    ],
    server: Server = HERE,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Go back to an earlier state: what came later until now is learned from no more. This cannot be undone."""
    remote = _remote(server)
    summary = remote.summary(id)
    before = summary.left_out
    if again := read_again(remote.snapshots(id), to):
        say(again, wrap=False)
    if not yes:
        typer.confirm(f"Go back from {summary.learned:,} reports to {to:,}? There is no way back.", abort=True)
    remote.roll_back(id, to)
    if gone := remote.summary(id).left_out - before:
        say(f"{id} is back at {to:,} reports; {gone:,} are learned from no more", wrap=False)
    else:
        say(f"{id} is on its way back; `sottovoce task show {id}` says when it is there", wrap=False)


@task.command()
def admission_key(id: Id, server: Server = HERE) -> None:
    """Print the secret with which your own server signs admission tokens, for a task whose admission is signed."""
    say(_remote(server).admission_key(id), wrap=False)


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
    say(f"{out}: the contract and {reports:,} reports", wrap=False)


@task.command()
def replay(
    id: Id,
    data: Annotated[Path, typer.Option(help="The folder of the server.", file_okay=False)] = Path("data"),
    store: Annotated[
        str, typer.Option(metavar="ADDRESS", help="postgresql://… (or SOTTOVOCE_STORE); else SQLite in --data.")
    ] = "",
) -> None:
    """Compute what was learned again from the journal, and print the hash of the state; on the server's machine."""
    from sottovoce.server.learn.replaying import replay as replayed
    from sottovoce.server.store import open_store, parts_of

    address = store or secret("SOTTOVOCE_STORE") or str(data)
    parts_of(address)  # refuses what is no store, and makes none
    with contextlib.closing(open_store(address)) as kept:
        rows = {row.contract.id: row for row in kept.tasks()}
        if id not in rows:
            raise UnknownName("task", id, rows)
        say(replayed(kept, rows[id]), wrap=False)


@task.command(name="list")
def list_tasks(server: Server = HERE) -> None:
    """List the tasks of a server."""
    table = table_of("Tasks", words("task"), words("title", wraps=True), "epsilon", "expires", words("state"))
    tasks = _remote(server).tasks()
    for listed in tasks:
        contract = contract_from(bytes(listed.contract))
        title = contract.title or learning_of(contract).learner
        epsilon, expires = f"{contract.gates[0].epsilon:g}", contract.expires.isoformat()
        table.add_row(contract.id, title, epsilon, expires, state_of(listed.status))
    say(table if tasks else f"{server} has no task yet; `sottovoce task create FILE` makes one", wrap=False)


@task.command()
def diff(
    old: Annotated[str, typer.Argument(help="A task file, or the id of a task.")],
    new: Annotated[str, typer.Argument(help="Another one.")],
    server: Server = HERE,
) -> None:
    """Say in words what is different between two contracts, and first what that means for privacy."""
    for line in differences(_contract_body(old, server), _contract_body(new, server)):
        say(line, wrap=False)


@task.command()
def log(
    id: Annotated[str, typer.Argument(help="The id of a task; of the whole server when left out.")] = "",
    most: Annotated[int, typer.Option(help="How many, the newest.", min=1, max=1000)] = 30,
    json: JsonFile = None,
    server: Server = HERE,
) -> None:
    """List what was done with a task and by whom, or on the whole server: with requests that were refused."""
    found = _remote(server).actions(id, most)
    write_rows(json, msgspec.to_builtins(found))
    columns = [words("when (UTC)"), words("token"), words("task")][: 2 if id else 3]
    table = table_of(f"Actions on {id}" if id else "Actions", *columns, words("what", wraps=True))
    for one in reversed(found):
        when = datetime.datetime.fromtimestamp(one.time, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")
        table.add_row(*[when, one.token or "-", one.task or "-"][: len(columns)], one.sentence)
    say(table if found else "nothing has been written down yet")


# --- what the commands share -----------------------------------------------------------------------------------------


def _remote(server: str) -> Remote:
    return Remote(server, secret(TOKEN))


def _contract_body(name: str, server: str) -> bytes:
    """Of a file that is there, else of a task of this id."""
    return contract_of(load_task_file(Path(name))) if Path(name).is_file() else _remote(server).contract_body(name)


def _change(server: str, id: str, verb: str) -> None:
    say(f"{id} is {state_of(_remote(server).change(id, verb))}", wrap=False)


def _print_task(remote: Remote, id: str) -> None:
    contract, status = remote.contract(id), remote.status(id)
    summary, rows = learned(contract, remote)
    table = Table(title=contract.title or contract.id, title_justify="left", show_header=False, box=None)
    table.add_column(style="dim", no_wrap=True)
    for fact in facts(contract, status, summary):
        table.add_row(*fact)
    say(table)
    print_learned(summary, rows)


def print_learned(summary: Summary, rows: list[dict[str, Any]]) -> None:
    """What the server has learned: what `admin.learned.learned` gave."""
    if rows:
        aside = summary.gain.aside if summary.gain else 0
        title = f"Learned from {summary.reports - aside:,} private reports"
        first, *numbers = rows[0]
        table = table_of(title, words(first), *numbers, rows=[[cell(value) for value in row.values()] for row in rows])
        table.min_width = len(title)
        say()
        say(table)
    if summary.gain:
        say()
        say(gain_words(summary.gain))
